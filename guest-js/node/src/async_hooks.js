// `AsyncLocalStorage`, as far as it can be known which store is meant: QuickJS has no hook for what goes on after an `await`.

export class AsyncLocalStorage {
  // The store of `enterWith`, or while a `run` is on the stack, of that.
  #store;
  #depth = 0;
  // One for each `run` whose promise has not settled.
  #pending = new Set();

  getStore() {
    if (this.#depth > 0 || this.#pending.size === 0) return this.#store;
    const [first, ...others] = this.#pending;
    if (others.every((other) => Object.is(other.store, first.store))) return first.store;
    const error = new Error(
      'AsyncLocalStorage does not know which of the runs that wait goes on after an `await`: call getStore() before it, or run one after the other',
    );
    throw Object.assign(error, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
  }

  run(store, callback, ...values) {
    const before = this.#store;
    this.#store = store;
    this.#depth += 1;
    let result;
    try {
      result = callback(...values);
    } finally {
      this.#store = before;
      this.#depth -= 1;
    }
    if (!(result instanceof Promise)) return result;
    const run = { store };
    this.#pending.add(run);
    // Not beside it: a promise that somebody looks at is no unhandled rejection any more.
    return result.finally(() => this.#pending.delete(run));
  }

  enterWith(store) {
    this.#store = store;
  }

  exit(callback, ...values) {
    return this.run(undefined, callback, ...values);
  }

  disable() {
    this.#store = undefined;
    this.#pending.clear();
  }
}
