// `mock.timers` of `node:test`: timers and a clock that advance only when a test says so.
import timers, { promises } from './timers.js';
import process from './process.js';
import { abortError, codedError, invalidType, invalidValue, isObject } from './util.js';

const APIS = ['setTimeout', 'setInterval', 'setImmediate', 'Date', 'scheduler.wait'];
// Longest delay of a timer; a longer one is a millisecond, as in Node.
const LONGEST = 2 ** 31 - 1;
// Delay of an immediate, which is due before all other timers.
const AT_ONCE = -1;

class MockTimeout {
  constructor(timer) {
    Object.assign(this, timer);
  }
  hasRef() {
    return true;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  refresh() {
    return this;
  }
}

const checkTime = (time) => {
  if (time < 0) throw invalidValue('time', 'positive integer', time);
};
const checkSignal = (options) => {
  const signal = options?.signal;
  if (signal !== undefined && !(isObject(signal) && 'aborted' in signal)) throw invalidType('options.signal', 'an instance of AbortSignal', signal);
  return signal;
};

// Returns a `Date` whose current time is that of `now`.
const dateWith = (RealDate, now) => {
  function MockDate(...values) {
    if (!new.target) return new RealDate(now()).toString();
    const made = values.length === 0 ? new RealDate(now()) : new RealDate(...values);
    return new.target === MockDate ? made : Object.setPrototypeOf(made, new.target.prototype);
  }
  const { prototype, ...properties } = Object.getOwnPropertyDescriptors(RealDate);
  Object.defineProperties(MockDate, properties);
  MockDate.prototype = prototype.value;
  MockDate.now = { now }.now;
  MockDate.toString = { toString: () => Function.prototype.toString.call(RealDate) }.toString;
  Object.defineProperty(MockDate, 'isMock', { value: true, enumerable: true });
  return MockDate;
};

let isToldOf = false;

export class MockTimers {
  #apis = [];
  #isEnabled = false;
  #now = 0;
  #last = 0;
  // Timers that wait, in the order in which they are due.
  #queue = [];
  // Properties that were replaced, with what they were.
  #replaced = [];

  constructor() {
    if (isToldOf) return;
    isToldOf = true;
    process.emitWarning('The MockTimers API is an experimental feature and might change at any time', 'ExperimentalWarning');
  }

  #insert(timer) {
    const at = this.#queue.findIndex((other) => other.runAt > timer.runAt || (other.runAt === timer.runAt && other.id > timer.id));
    this.#queue.splice(at < 0 ? this.#queue.length : at, 0, timer);
  }
  #start(isInterval, callback, delay = 0, ...args) {
    const wait = delay > LONGEST ? 1 : delay;
    const timer = new MockTimeout({ id: ++this.#last, callback, runAt: this.#now + wait, interval: isInterval ? wait : undefined, args });
    this.#insert(timer);
    return timer;
  }
  #stop = (timer) => {
    const at = this.#queue.indexOf(timer);
    if (at >= 0) this.#queue.splice(at, 1);
  };
  #waitFor(delay, value, options) {
    return new Promise((resolve, reject) => {
      const signal = checkSignal(options);
      if (signal?.aborted) return reject(abortError(signal));
      const timer = this.#start(false, () => resolve(value), delay);
      signal?.addEventListener('abort', () => (this.#stop(timer), reject(abortError(signal))), { once: true });
    });
  }
  async *#repeat(delay, value, options) {
    const signal = checkSignal(options);
    let due = 0;
    let wake = () => {};
    const timer = this.#start(true, () => (due++, wake()), delay);
    signal?.addEventListener('abort', () => wake(), { once: true });
    try {
      for (;;) {
        if (signal?.aborted) throw abortError(signal);
        if (due === 0) await new Promise((resolve) => (wake = resolve));
        else yield (due--, value);
      }
    } finally {
      this.#stop(timer);
    }
  }

  #replace(holder, name, value) {
    this.#replaced.push([holder, name, Object.getOwnPropertyDescriptor(holder, name)]);
    holder[name] = value;
  }
  // Replaces a pair of functions that start and clear timers, and the function that returns a promise.
  #replacePair(name, start, wait) {
    const clear = name.replace('set', 'clear');
    for (const holder of [globalThis, timers]) {
      this.#replace(holder, name, start);
      this.#replace(holder, clear, this.#stop);
    }
    this.#replace(promises, name, wait);
  }
  #fake(api) {
    const wait = (delay, value, options) => this.#waitFor(delay, value, options);
    switch (api) {
      case 'setTimeout': return this.#replacePair(api, (callback, ...rest) => this.#start(false, callback, ...rest), wait);
      case 'setInterval':
        return this.#replacePair(api, (callback, ...rest) => this.#start(true, callback, ...rest), (delay, value, options) => this.#repeat(delay, value, options));
      case 'setImmediate':
        return this.#replacePair(api, (callback, ...values) => this.#start(false, callback, AT_ONCE, ...values), (value, options) => wait(AT_ONCE, value, options));
      case 'Date':
        if (globalThis.Date.isMock) throw codedError(Error, 'ERR_INVALID_STATE', 'Invalid state: Date is already being mocked!');
        return this.#replace(globalThis, 'Date', dateWith(globalThis.Date, () => this.#now));
      default: return this.#replace(promises.scheduler, 'wait', (delay, options) => wait(delay, undefined, options));
    }
  }
  #assertEnabled() {
    if (!this.#isEnabled) throw codedError(Error, 'ERR_INVALID_STATE', 'Invalid state: You should enable MockTimers first by calling the .enable function');
  }

  enable(options = {}) {
    if (this.#isEnabled) throw codedError(Error, 'ERR_INVALID_STATE', 'Invalid state: MockTimers is already enabled!');
    if (Number.isNaN(options.now)) throw invalidValue('now', options.now, `epoch must be a positive integer received ${options.now}`);
    const apis = options.apis || APIS;
    if (!Array.isArray(apis)) throw invalidType('options.apis', 'an instance of Array', apis);
    apis.forEach((api, at) => {
      if (typeof api !== 'string') throw invalidType(`options.apis[${at}]`, 'string', api);
    });
    for (const api of apis) if (!APIS.includes(api)) throw invalidValue('options.apis', api, `option ${api} is not supported`);
    const now = options.now instanceof Date ? options.now.getTime() : options.now || 0;
    if (typeof now !== 'number') throw invalidType('initialTime', 'number', now);
    checkTime(now);
    this.#apis = apis;
    this.#now = now;
    for (const api of this.#apis) this.#fake(api);
    this.#isEnabled = true;
  }
  tick(time = 1) {
    this.#assertEnabled();
    checkTime(time);
    this.#now += time;
    for (let timer; (timer = this.#queue[0]) !== undefined && timer.runAt <= this.#now; ) {
      Reflect.apply(timer.callback, undefined, timer.args);
      if (this.#queue[0] === timer) this.#queue.shift();
      // As in Node, an interval that its own callback clears goes on.
      if (timer.interval === undefined) continue;
      timer.runAt += timer.interval;
      this.#insert(timer);
    }
  }
  runAll() {
    this.#assertEnabled();
    if (this.#queue.length > 0) this.tick(Math.max(this.#queue.at(-1).runAt - this.#now, 0));
  }
  setTime(time = 0) {
    if (typeof time !== 'number') throw invalidType('time', 'number', time);
    checkTime(time);
    this.#assertEnabled();
    this.#now = time;
  }
  reset() {
    if (!this.#isEnabled) return;
    for (const [holder, name, property] of this.#replaced.reverse()) Object.defineProperty(holder, name, property);
    [this.#replaced, this.#queue, this.#apis] = [[], [], []];
    this.#now = 0;
    this.#isEnabled = false;
  }
}
