// `AsyncLocalStorage`, as far as it can be known which store is meant: QuickJS has no hook for what goes on after an `await`.
import { invalidType } from './util.js';

const storages = new Set();
// The engine's own, whose callbacks are tied to nothing.
const { then } = Promise.prototype;
const settledPromise = Promise.resolve();

// Ties callbacks of timers, ticks, files and promises to the stores of where they are given, from now on.
const bindAll = () => {
  host.bindCallbacks(AsyncLocalStorage.bind);
  const bound = (callback) => (typeof callback === 'function' ? AsyncLocalStorage.bind(callback) : callback);
  const made = {
    then(onFulfilled, onRejected) {
      return then.call(this, bound(onFulfilled), bound(onRejected));
    },
  }.then;
  Object.defineProperty(Promise.prototype, 'then', { value: made, writable: true, enumerable: false, configurable: true });
};

// The store of what began where it was not known which one was meant.
const unknown = Symbol('unknown');

export class AsyncLocalStorage {
  // The store of `enterWith`, or while a `run` is on the stack, of that.
  #store;
  #depth = 0;
  // One for each `run` whose promise has not settled.
  #pending = new Set();
  // `{store}` of the job that called `run`, until that job is over: nothing of what waits can go on before.
  #job;

  constructor() {
    if (storages.size === 0) bindAll();
    storages.add(this);
  }

  // A function that runs with the stores of where it was bound, also where that is none.
  static bind(callback) {
    if (typeof callback !== 'function') throw invalidType('fn', 'function', callback);
    const stores = new Map();
    for (const storage of storages) {
      const store = storage.#current();
      if (store !== undefined) stores.set(storage, store);
    }
    const bound = function (...values) {
      let inner = () => callback.apply(this, values);
      for (const storage of storages) {
        const store = stores.get(storage);
        // One that has no store, and is to have none, takes no frame of the stack.
        if (store === undefined && storage.#current() === undefined) continue;
        const next = inner;
        inner = () => storage.run(store, next);
      }
      return inner();
    };
    return Object.defineProperty(bound, 'length', { value: callback.length, configurable: true });
  }

  static snapshot() {
    return AsyncLocalStorage.bind((callback, ...values) => callback(...values));
  }

  // The store, or `unknown`.
  #current() {
    if (this.#depth > 0) return this.#store;
    if (this.#job !== undefined) return this.#job.store;
    if (this.#pending.size === 0) return this.#store;
    const [first, ...others] = this.#pending;
    return others.every((other) => Object.is(other.store, first.store)) ? first.store : unknown;
  }

  getStore() {
    const store = this.#current();
    if (store !== unknown) return store;
    const error = new Error(
      'AsyncLocalStorage does not know which of the runs that wait goes on after an `await`: call getStore() before it, or run one after the other',
    );
    throw Object.assign(error, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
  }

  run(store, callback, ...values) {
    if (this.#depth === 0 && this.#job === undefined) {
      this.#job = { store: this.#current() };
      // Before anything that the callback has to wait for.
      then.call(settledPromise, () => (this.#job = undefined));
    }
    const before = this.#store;
    this.#store = store;
    this.#depth += 1;
    const run = { store };
    let result;
    try {
      result = callback(...values);
    } finally {
      run.store = this.#store;
      this.#store = before;
      this.#depth -= 1;
    }
    if (!(result instanceof Promise)) return result;
    this.#pending.add(run);
    // Not beside it: a promise that somebody looks at is no unhandled rejection any more.
    const settled = () => this.#pending.delete(run);
    return then.call(
      result,
      (value) => {
        settled();
        return value;
      },
      (error) => {
        settled();
        throw error;
      },
    );
  }

  enterWith(store) {
    if (this.#depth > 0 || this.#pending.size === 0) this.#store = store;
    else if (this.#job === undefined) for (const run of this.#pending) run.store = store;
    if (this.#depth === 0 && this.#job !== undefined) {
      this.#store = store;
      this.#job.store = store;
    }
  }

  exit(callback, ...values) {
    return this.run(undefined, callback, ...values);
  }

  disable() {
    this.#store = undefined;
    this.#job = undefined;
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
    if (typeof callback !== 'function') throw invalidType('fn', 'function', callback);
    const resource = this;
    const bound = function (...values) {
      return resource.runInAsyncScope(callback, this, ...values);
    };
    return Object.defineProperty(bound, 'length', { value: callback.length, configurable: true });
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
