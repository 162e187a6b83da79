// `AsyncLocalStorage`, as far as it can be known which store is meant: QuickJS has no hook for what goes on after an `await`.

const storages = new Set();

export class AsyncLocalStorage {
  // The store of `enterWith`, or while a `run` is on the stack, of that.
  #store;
  #depth = 0;
  // One for each `run` whose promise has not settled.
  #pending = new Set();

  constructor() {
    // Callbacks of timers, ticks and files are tied to their stores from now on.
    if (storages.size === 0) host.bindCallbacks(AsyncLocalStorage.bind);
    storages.add(this);
  }

  // A function that runs with the stores of where it was bound.
  static bind(callback) {
    let bound = callback;
    for (const storage of storages) {
      const store = storage.#known();
      const inner = bound;
      if (store !== undefined) {
        bound = function (...values) {
          return storage.run(store, () => inner.apply(this, values));
        };
      }
    }
    return bound;
  }

  static snapshot() {
    return AsyncLocalStorage.bind((callback, ...values) => callback(...values));
  }

  // The store, if it is known.
  #known() {
    if (this.#depth > 0 || this.#pending.size === 0) return this.#store;
    const [first, ...others] = this.#pending;
    return others.every((other) => Object.is(other.store, first.store)) ? first.store : undefined;
  }

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

// Work that goes on later with the stores of where it began.
export class AsyncResource {
  #run;
  constructor(type) {
    this.#run = AsyncLocalStorage.snapshot();
    Object.defineProperty(this, 'type', { value: type });
  }
  static bind(callback) {
    return AsyncLocalStorage.bind(callback);
  }
  bind(callback) {
    return (...values) => this.runInAsyncScope(callback, undefined, ...values);
  }
  runInAsyncScope(callback, self, ...values) {
    return this.#run(() => callback.apply(self, values));
  }
  emitDestroy() {
    return this;
  }
  asyncId() {
    return 1;
  }
  triggerAsyncId() {
    return 0;
  }
}
