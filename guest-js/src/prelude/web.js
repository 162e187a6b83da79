// APIs of the web: events, `AbortController`, `crypto`, `performance`.

let scriptStart = 0;

// Listeners of each target: `[{type, callback, once}]`.
const listenersOf = new WeakMap();

const callListener = (callback, target, event) => {
  try {
    if (typeof callback === 'function') apply(callback, target, [event]);
    else apply(callback.handleEvent, callback, [event]);
  } catch (error) {
    native.uncaught(error);
  }
};

class Event {
  #type;
  #bubbles;
  #cancelable;
  #prevented = false;
  #stopped = false;
  #target = null;
  #isDispatched = false;
  #time;
  constructor(type, options) {
    if (arguments.length === 0) throw nodeError(new TypeError('The "type" argument must be specified'), 'ERR_MISSING_ARGS');
    // A symbol throws here.
    this.#type = `${type}`;
    if (options != null && typeof options !== 'object') throw nodeError(new TypeError('The "options" argument must be of type object.' + received(options)), 'ERR_INVALID_ARG_TYPE');
    this.#bubbles = options?.bubbles === true;
    this.#cancelable = options?.cancelable === true;
    this.#time = native.now() - scriptStart;
  }
  static begin(event, target) {
    event.#target = target;
    event.#stopped = false;
    event.#isDispatched = true;
  }
  static end(event) {
    event.#isDispatched = false;
  }
  static isEvent(value) {
    return isObject(value) && #target in value;
  }
  static isStopped(event) {
    return event.#stopped;
  }
  get type() {
    return this.#type;
  }
  get bubbles() {
    return this.#bubbles;
  }
  get cancelable() {
    return this.#cancelable;
  }
  get composed() {
    return false;
  }
  get defaultPrevented() {
    return this.#prevented;
  }
  get target() {
    return this.#target;
  }
  get currentTarget() {
    return this.#target;
  }
  get srcElement() {
    return this.#target;
  }
  get eventPhase() {
    return this.#isDispatched ? 2 : 0;
  }
  get timeStamp() {
    return this.#time;
  }
  get isTrusted() {
    return false;
  }
  [customInspect](depth, options) {
    const shown = { type: this.type, defaultPrevented: this.defaultPrevented, cancelable: this.cancelable, timeStamp: this.timeStamp };
    return constructorName(this) + ' ' + inspect(shown, options);
  }
  get returnValue() {
    return !this.#prevented;
  }
  composedPath() {
    return this.#isDispatched ? [this.#target] : [];
  }
  preventDefault() {
    if (this.#cancelable) this.#prevented = true;
  }
  stopPropagation() {}
  stopImmediatePropagation() {
    this.#stopped = true;
  }
}
const { begin: beginEvent, end: endEvent, isEvent, isStopped: isEventStopped } = Event;
const phases = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };
for (const phase in phases) {
  defineProperty(Event, phase, { __proto__: null, value: phases[phase], enumerable: true });
  defineProperty(Event.prototype, phase, { __proto__: null, value: phases[phase], enumerable: true });
}
delete Event.begin;
delete Event.end;
delete Event.isEvent;
delete Event.isStopped;

class CustomEvent extends Event {
  #detail;
  constructor(type, options) {
    if (arguments.length === 0) super();
    else super(type, options);
    this.#detail = options?.detail ?? null;
  }
  get detail() {
    return this.#detail;
  }
}

const listenersFor = (target) => {
  const list = isObject(target) ? weakGet(listenersOf, target) : undefined;
  if (list === undefined) throw new TypeError('the value of "this" is no EventTarget');
  return list;
};

class EventTarget {
  constructor() {
    weakSet(listenersOf, this, []);
  }
  addEventListener(type, callback, options) {
    if (arguments.length < 2) throw nodeError(new TypeError('The "type" and "listener" arguments must be specified'), 'ERR_MISSING_ARGS');
    if (callback == null) return;
    if (typeof callback !== 'function' && !isObject(callback)) {
      throw nodeError(new TypeError('The "listener" argument must be an instance of EventListener.' + received(callback)), 'ERR_INVALID_ARG_TYPE');
    }
    const list = listenersFor(this);
    const name = String(type);
    for (let i = 0; i < list.length; i++) if (list[i].type === name && list[i].callback === callback) return;
    const signal = signalOf(options);
    if (signal !== undefined && isAborted(signal)) return;
    push(list, { __proto__: null, type: name, callback, once: options?.once === true });
    if (signal !== undefined) whenAborted(signal, () => apply(removeListener, this, [name, callback]));
  }
  removeEventListener(type, callback) {
    const list = listenersFor(this);
    for (let i = 0; i < list.length; i++) {
      if (list[i].type === type && list[i].callback === callback) {
        splice(list, i, 1);
        return;
      }
    }
  }
  dispatchEvent(event) {
    if (!isEvent(event)) {
      throw nodeError(new TypeError('The "event" argument must be an instance of Event.' + received(event)), 'ERR_INVALID_ARG_TYPE');
    }
    beginEvent(event, this);
    const list = slice(listenersFor(this));
    // The handler of a signal is one of its listeners.
    const handler = weakHas(signalStates, this) ? undefined : this['on' + event.type];
    if (typeof handler === 'function') callListener(handler, this, event);
    for (let i = 0; i < list.length; i++) {
      if (isEventStopped(event)) break;
      // A listener that an earlier one removed is not called.
      if (list[i].type !== event.type || !listIncludes(listenersFor(this), list[i])) continue;
      if (list[i].once) apply(removeListener, this, [list[i].type, list[i].callback]);
      callListener(list[i].callback, this, event);
    }
    endEvent(event);
    return !event.defaultPrevented;
  }
}
const { addEventListener: addListener, removeEventListener: removeListener, dispatchEvent } = EventTarget.prototype;
const listIncludes = (list, item) => {
  for (let i = 0; i < list.length; i++) if (list[i] === item) return true;
  return false;
};
// Returns the functions and objects that listen to an event of a target.
const listenersTo = (target, type) => {
  const list = listenersFor(target);
  const found = [];
  for (let i = 0; i < list.length; i++) if (list[i].type === type) push(found, list[i].callback);
  return found;
};
const listenerCount = (target, type) => {
  const list = listenersFor(target);
  let count = 0;
  for (let i = 0; i < list.length; i++) if (list[i].type === type) count++;
  return count;
};

// State of each signal: `{aborted, reason, waiting}`; `waiting` are the operations and signals that end with it.
const signalStates = new WeakMap();
let makingSignal = false;

class AbortSignal extends EventTarget {
  constructor() {
    if (!makingSignal)
      throw new TypeError(
        'a signal comes from `new AbortController().signal`, `AbortSignal.timeout(ms)` or `AbortSignal.any(signals)`',
      );
    super();
    weakSet(signalStates, this, { __proto__: null, aborted: false, reason: undefined, waiting: [] });
  }
  get onabort() {
    return weakGet(signalStates, this).handler ?? null;
  }
  // As in Node, called in the order in which listeners were added.
  set onabort(value) {
    const state = weakGet(signalStates, this);
    if (state.listener !== undefined) apply(removeListener, this, ['abort', state.listener]);
    state.handler = typeof value === 'function' ? value : null;
    state.listener = state.handler === null ? undefined : (event) => apply(state.handler, this, [event]);
    if (state.listener !== undefined) apply(addListener, this, ['abort', state.listener]);
  }
  get aborted() {
    return weakGet(signalStates, this).aborted;
  }
  get reason() {
    return weakGet(signalStates, this).reason;
  }
  [customInspect](depth, options) {
    return 'AbortSignal ' + inspect({ aborted: isAborted(this) }, options);
  }
  throwIfAborted() {
    const state = weakGet(signalStates, this);
    if (state.aborted) throw state.reason;
  }
  static abort(reason) {
    const signal = newSignal();
    abortSignal(signal, reason);
    return signal;
  }
  static timeout(milliseconds) {
    if (typeof milliseconds !== 'number') {
      throw nodeError(new TypeError('The "delay" argument must be of type number.' + received(milliseconds)), 'ERR_INVALID_ARG_TYPE');
    }
    if (!(milliseconds >= 0 && milliseconds <= 4294967295)) {
      throw nodeError(new RangeError('The value of "delay" is out of range. It must be >= 0 && <= 4294967295. Received ' + milliseconds), 'ERR_OUT_OF_RANGE');
    }
    const signal = newSignal();
    const id = native.sleepInBackground(toWait(milliseconds));
    outstanding[id] = {
      __proto__: null,
      resolve: () => abortSignal(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      reject: () => {},
    };
    return signal;
  }
  static any(signals) {
    if (!isObject(signals)) {
      throw nodeError(new TypeError('The "signals" argument must be an instance of Array.' + received(signals)), 'ERR_INVALID_ARG_TYPE');
    }
    const signal = newSignal();
    for (const other of signals) {
      const state = stateOf(other);
      if (state.aborted) {
        abortSignal(signal, state.reason);
        break;
      }
      whenAborted(other, (reason) => abortSignal(signal, reason));
    }
    return signal;
  }
}

const newSignal = () => {
  makingSignal = true;
  try {
    return new AbortSignal();
  } finally {
    makingSignal = false;
  }
};

const stateOf = (signal) => {
  const state = weakHas(signalStates, signal) ? weakGet(signalStates, signal) : undefined;
  if (state === undefined) throw new TypeError('a signal is an AbortSignal, got ' + kindOf(signal));
  return state;
};

const abortSignal = (signal, reason) => {
  const state = weakGet(signalStates, signal);
  if (state.aborted) return;
  state.aborted = true;
  state.reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
  const { waiting } = state;
  state.waiting = [];
  for (let i = 0; i < waiting.length; i++) waiting[i](state.reason);
  apply(dispatchEvent, signal, [new Event('abort')]);
};

// Returns the signal in the options of a call; undefined if there is none.
const signalOf = (options, below) => {
  const signal = isObject(options) ? options.signal : undefined;
  if (signal == null) return undefined;
  if (weakHas(signalStates, signal)) return signal;
  throw usageError(TypeError, 'the option `signal` is an AbortSignal, got ' + kindOf(signal), below ?? signalOf);
};

const isAborted = (signal) => weakGet(signalStates, signal).aborted;
const abortReason = (signal) => weakGet(signalStates, signal).reason;

// Calls back once the signal is aborted. Returns a function that removes the callback.
const whenAborted = (signal, callback) => {
  const state = weakGet(signalStates, signal);
  push(state.waiting, callback);
  return () => {
    const list = state.waiting;
    for (let i = 0; i < list.length; i++) if (list[i] === callback) splice(list, i--, 1);
  };
};

class AbortController {
  #signal = newSignal();
  get signal() {
    return this.#signal;
  }
  [customInspect](depth, options) {
    return 'AbortController ' + inspect({ signal: this.#signal }, options);
  }
  abort(reason) {
    abortSignal(this.#signal, reason);
  }
}

const cryptoFunctions = {
  getRandomValues(target) {
    const bytes = isObject(target) && typedArrayTag(target) !== undefined ? asBytes(target) : undefined;
    if (bytes === undefined || startsWith(typedArrayTag(target), 'Float')) {
      throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
    }
    if (bytes.length > 65_536)
      throw new DOMException('The requested length exceeds 65,536 bytes', 'QuotaExceededError');
    typedArraySet(bytes, native.randomBytes(bytes.length), 0);
    return target;
  },
  randomUUID() {
    const bytes = native.randomBytes(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = toHex(bytes);
    return (
      substring(hex, 0, 8) +
      '-' +
      substring(hex, 8, 12) +
      '-' +
      substring(hex, 12, 16) +
      '-' +
      substring(hex, 16, 20) +
      '-' +
      substring(hex, 20)
    );
  },
};

const crypto = {};
for (const name in cryptoFunctions) crypto[name] = cryptoFunctions[name];
const performance = {};
define(performance, 'toJSON', () => ({ timeOrigin: scriptStart }));
define(performance, 'now', { now: () => native.now() - scriptStart }.now);
defineGetter(performance, 'timeOrigin', () => scriptStart);

const webGlobals = { Event, CustomEvent, EventTarget, AbortSignal, AbortController, crypto, performance };
for (const name in webGlobals) defineGlobal(name, webGlobals[name]);
