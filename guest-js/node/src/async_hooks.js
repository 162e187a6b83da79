// `AsyncLocalStorage`. The stores of the running code are one value of the engine, which follows callbacks of promises
// and each `await`. Callbacks of timers, ticks and files are bound to it here.
import { invalidType } from './util.js';

const { asyncContext, setAsyncContext } = host.native;

// Calls a function with these stores: a map from each `AsyncLocalStorage` to its store, or undefined if there are none.
const within = (stores, callback, self, values) => {
  const before = asyncContext();
  setAsyncContext(stores);
  try {
    return Reflect.apply(callback, self, values);
  } finally {
    setAsyncContext(before);
  }
};

let isUsed = false;

export class AsyncLocalStorage {
  #isEnabled = true;

  constructor() {
    if (!isUsed) host.bindCallbacks(AsyncLocalStorage.bind);
    isUsed = true;
  }

  // Returns a function that runs with the stores of the place where it was bound, even if there were none.
  static bind(callback) {
    if (typeof callback !== 'function') throw invalidType('fn', 'function', callback);
    const stores = asyncContext();
    const bound = function (...values) {
      return within(stores, callback, this, values);
    };
    return Object.defineProperty(bound, 'length', { value: callback.length, configurable: true });
  }

  static snapshot() {
    return AsyncLocalStorage.bind((callback, ...values) => callback(...values));
  }

  getStore() {
    return this.#isEnabled ? asyncContext()?.get(this) : undefined;
  }

  // Returns the current stores with another one for this storage.
  #with(store) {
    this.#isEnabled = true;
    return new Map(asyncContext()).set(this, store);
  }

  run(store, callback, ...values) {
    return within(this.#with(store), callback, undefined, values);
  }

  enterWith(store) {
    setAsyncContext(this.#with(store));
  }

  exit(callback, ...values) {
    return this.run(undefined, callback, ...values);
  }

  disable() {
    this.#isEnabled = false;
  }
}

// Work that continues later with the stores of the place where it began.
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
