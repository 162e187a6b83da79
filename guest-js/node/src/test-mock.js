// `mock` of `node:test`: functions that remember their calls, and replacements of methods.
import { MockTimers } from './test-timers.js';
import { invalidType, invalidValue } from './util.js';

// State of a mocked function, which scripts see as its property `mock`.
class MockFunctionContext {
  #calls = [];
  #original;
  #implementation;
  #once = new Map();
  #left;
  #restore;
  constructor(original, implementation, times, restore) {
    this.#original = original;
    this.#implementation = implementation;
    this.#left = times;
    this.#restore = restore;
  }
  get calls() {
    return [...this.#calls];
  }
  callCount() {
    return this.#calls.length;
  }
  mockImplementation(implementation) {
    if (typeof implementation !== 'function') throw invalidType('implementation', 'function', implementation);
    this.#implementation = implementation;
    this.#left = Infinity;
  }
  mockImplementationOnce(implementation, onCall = this.#calls.length) {
    if (typeof implementation !== 'function') throw invalidType('implementation', 'function', implementation);
    this.#once.set(onCall, implementation);
  }
  resetCalls() {
    this.#calls = [];
  }
  restore() {
    this.#implementation = this.#original;
    this.#once.clear();
    this.#restore?.();
  }
  // Returns the function that the next call runs.
  #next() {
    const at = this.#calls.length;
    const once = this.#once.get(at);
    this.#once.delete(at);
    if (once !== undefined) return once;
    if (this.#left <= 0) return this.#original;
    this.#left--;
    return this.#implementation;
  }
  static call(context, self, values, target, made) {
    const call = { arguments: values, error: undefined, result: undefined, stack: new Error(), target, this: self };
    const work = context.#next();
    try {
      call.result = target === undefined ? Reflect.apply(work, self, values) : Reflect.construct(work, values, made);
      if (target !== undefined) call.this = call.result;
      return call.result;
    } catch (error) {
      call.error = error;
      throw error;
    } finally {
      context.#calls.push(call);
    }
  }
}
const callMock = MockFunctionContext.call;
delete MockFunctionContext.call;

const timesOf = (options) => {
  const { times = Infinity } = options ?? {};
  if (times !== Infinity && !(Number.isInteger(times) && times >= 1)) throw invalidValue('options.times', times);
  return times;
};

export class MockTracker {
  #contexts = [];
  #timers;
  #make(original, implementation, options, restore) {
    const context = new MockFunctionContext(original, implementation, timesOf(options), restore);
    this.#contexts.push(context);
    return new Proxy(original, {
      apply: (_, self, values) => callMock(context, self, values, undefined),
      construct: (target, values, made) => callMock(context, undefined, values, target, made),
      get: (target, name, receiver) => (name === 'mock' ? context : Reflect.get(target, name, receiver)),
    });
  }
  fn(original = () => {}, implementation = original, options = {}) {
    if (typeof original === 'object' && original !== null) return this.#make(() => {}, () => {}, original);
    if (typeof original !== 'function') throw invalidType('original', 'function', original);
    if (typeof implementation === 'object' && implementation !== null) return this.#make(original, original, implementation);
    return this.#make(original, implementation, options);
  }
  #replace(object, name, kind, implementation, options) {
    let holder = object;
    while (holder !== null && !Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder);
    const property = holder === null ? undefined : Object.getOwnPropertyDescriptor(holder, name);
    const original = property?.[kind];
    if (typeof original !== 'function') throw invalidValue('methodName', original, 'must be a method');
    const isOwn = holder === object;
    const restore = () => (isOwn ? Object.defineProperty(object, name, property) : delete object[name]);
    const made = this.#make(original, implementation ?? original, options, restore);
    Object.defineProperty(object, name, { ...property, configurable: true, [kind]: made });
    return made;
  }
  method(object, name, implementation, options) {
    if (object === null || (typeof object !== 'object' && typeof object !== 'function')) throw invalidType('object', 'object', object);
    if (typeof implementation === 'object' && implementation !== null) return this.method(object, name, undefined, implementation);
    const kind = options?.getter ? 'get' : options?.setter ? 'set' : 'value';
    return this.#replace(object, name, kind, implementation, options);
  }
  getter(object, name, implementation, options) {
    return this.method(object, name, implementation, { ...options, getter: true });
  }
  setter(object, name, implementation, options) {
    return this.method(object, name, implementation, { ...options, setter: true });
  }
  restoreAll() {
    for (const context of this.#contexts) context.restore();
  }
  reset() {
    this.restoreAll();
    this.#timers?.reset();
    this.#contexts = [];
  }
  get timers() {
    this.#timers ??= new MockTimers();
    return this.#timers;
  }
}
