// `EventEmitter`: a library, with later additions of Node.
import { absent } from './absent.js';
import EventEmitter from '../node_modules/events/events.js';
import { abortError, codedError, emitWarning, invalidType, outOfRange } from './util.js';

// Node's own symbols on emitters, which are shown when one is inspected.
export const marks = [Symbol('shapeMode'), Symbol('kCapture')];
const { init } = EventEmitter;
const [, capture] = marks;
EventEmitter.captureRejections = false;
EventEmitter.init = function (options) {
  init.call(this);
  for (const mark of marks) this[mark] = false;
  this[capture] = Boolean(options?.captureRejections ?? EventEmitter.captureRejections);
};

for (const name of ['addListener', 'once', 'prependListener', 'prependOnceListener', 'removeListener']) {
  const method = EventEmitter.prototype[name];
  EventEmitter.prototype[name] = {
    [name](event, listener) {
      if (typeof listener !== 'function') throw invalidType('listener', 'function', listener);
      return method.call(this, event, listener);
    },
  }[name];
}

// Aliases of the same functions.
EventEmitter.prototype.on = EventEmitter.prototype.addListener;
EventEmitter.prototype.off = EventEmitter.prototype.removeListener;

// Reports that a listener's promise was rejected: to the emitter's own method for that, or as its error.
const rejected = (emitter, error, event, values) => {
  const own = emitter[EventEmitter.captureRejectionSymbol];
  if (typeof own === 'function') {
    own.call(emitter, error, event, ...values);
    return;
  }
  const before = emitter[capture];
  // A failure of that listener is not reported to itself.
  emitter[capture] = false;
  try {
    emitter.emit('error', error);
  } finally {
    emitter[capture] = before;
  }
};
const emitAndCapture = (emitter, event, values) => {
  const listeners = emitter.rawListeners(event);
  for (const listener of listeners) {
    const result = listener.apply(emitter, values);
    if (typeof result?.then !== 'function') continue;
    result.then(undefined, (error) => host.queueTick(rejected, [emitter, error, event, values]));
  }
  return listeners.length > 0;
};
const { emit } = EventEmitter.prototype;
EventEmitter.prototype.emit = {
  emit(event, ...values) {
    if (event !== 'error') return this[capture] ? emitAndCapture(this, event, values) : emit.call(this, event, ...values);
    if (this.listenerCount(EventEmitter.errorMonitor) > 0) emit.call(this, EventEmitter.errorMonitor, ...values);
    if (this.listenerCount('error') > 0 || values[0] instanceof Error) return emit.call(this, event, ...values);
    const shown = ` (${host.inspect(values[0])})`;
    const error = codedError(Error, 'ERR_UNHANDLED_ERROR', `Unhandled error.${shown}`);
    throw Object.assign(error, { context: values[0] });
  },
}.emit;

const { setMaxListeners } = EventEmitter.prototype;
EventEmitter.prototype.setMaxListeners = {
  setMaxListeners(count) {
    if (typeof count !== 'number') throw invalidType('setMaxListeners', 'number', count);
    if (!(count >= 0)) throw outOfRange('setMaxListeners', '>= 0', count);
    return setMaxListeners.call(this, count);
  },
}.setMaxListeners;

Object.defineProperty(EventEmitter, 'warnOfListeners', {
  value({ name, emitter, type, count }) {
    const message = `Possible EventEmitter memory leak detected. ${count} ${String(type)} listeners added to ${host.inspect(emitter, { depth: -1 })}. MaxListeners is ${emitter.getMaxListeners()}. Use emitter.setMaxListeners() to increase limit`;
    const warning = Object.assign(new Error(message), { emitter, type, count });
    Object.defineProperty(warning, 'name', { value: name, writable: true, configurable: true });
    emitWarning(warning);
  },
});
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.errorMonitor = Symbol('events.errorMonitor');
EventEmitter.captureRejectionSymbol = Symbol.for('nodejs.rejection');
EventEmitter.getEventListeners = (emitter, name) => {
  if (typeof emitter?.listeners === 'function') return emitter.listeners(name);
  if (emitter instanceof EventTarget) return host.listenersTo(emitter, String(name));
  throw invalidType('emitter', 'an instance of EventEmitter or EventTarget', emitter);
};
EventEmitter.getMaxListeners = (emitter) => emitter.getMaxListeners?.() ?? EventEmitter.defaultMaxListeners;
// Returns an object that removes the listener when it is disposed of.
EventEmitter.addAbortListener = (signal, listener) => {
  if (!(signal instanceof AbortSignal)) throw invalidType('signal', 'an instance of AbortSignal', signal);
  if (typeof listener !== 'function') throw invalidType('listener', 'function', listener);
  if (signal.aborted) queueMicrotask(() => listener());
  else signal.addEventListener('abort', listener, { once: true });
  return { [Symbol.dispose ?? Symbol.for('nodejs.dispose')]: () => signal.removeEventListener('abort', listener) };
};
EventEmitter.listenerCount = (emitter, name) => emitter.listenerCount(name);
EventEmitter.setMaxListeners = (count, ...emitters) => {
  if (emitters.length === 0) EventEmitter.defaultMaxListeners = count;
  for (const emitter of emitters) emitter.setMaxListeners?.(count);
};

EventEmitter.once = async (emitter, name, options) => {
  const signal = options?.signal;
  if (signal?.aborted) throw abortError(signal);
  const isTarget = typeof emitter.addEventListener === 'function' && typeof emitter.on !== 'function';
  const failsToo = !isTarget && name !== 'error';
  return new Promise((resolve, reject) => {
    const finish = (settle, value) => {
      if (isTarget) emitter.removeEventListener(name, happened);
      else emitter.removeListener(name, happened);
      if (failsToo) emitter.removeListener('error', fail);
      signal?.removeEventListener('abort', abort);
      settle(value);
    };
    const happened = (...values) => finish(resolve, values);
    const fail = (error) => finish(reject, error);
    const abort = () => finish(reject, abortError(signal));
    if (isTarget) emitter.addEventListener(name, happened, { once: true });
    else emitter.once(name, happened);
    if (failsToo) emitter.once('error', fail);
    signal?.addEventListener('abort', abort, { once: true });
  });
};

// Implements `for await (const values of on(emitter, name))`.
EventEmitter.on = (emitter, name, options) => {
  if (options?.signal?.aborted) throw abortError(options.signal);
  const ready = [];
  const waiting = [];
  let failure;
  let done = false;
  const settle = (result) => (waiting.length > 0 ? waiting.shift().resolve(result) : ready.push(result));
  const listener = (...values) => settle({ value: values, done: false });
  const fail = (error) => {
    if (waiting.length > 0) waiting.shift().reject(error);
    else failure = error;
  };
  const closing = options?.close ?? [];
  const end = () => {
    done = true;
    for (const at of closing) emitter.off(at, end);
    emitter.off('error', fail);
    emitter.off(name, listener);
    while (waiting.length > 0) waiting.shift().resolve({ value: undefined, done: true });
    return Promise.resolve({ value: undefined, done: true });
  };
  emitter.on(name, listener);
  if (name !== 'error') emitter.on('error', fail);
  for (const at of closing) emitter.on(at, end);
  options?.signal?.addEventListener('abort', () => fail(abortError(options.signal)), { once: true });
  return {
    next() {
      if (ready.length > 0) return Promise.resolve(ready.shift());
      if (failure !== undefined) {
        const error = failure;
        failure = undefined;
        return end().then(() => Promise.reject(error));
      }
      if (done) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: end,
    throw(error) {
      fail(error);
      return Promise.resolve({ value: undefined, done: true });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

EventEmitter.usingDomains = false;
EventEmitter.EventEmitterAsyncResource = absent('events', 'EventEmitterAsyncResource', 'use an EventEmitter, and AsyncResource.bind() for its listeners');
export { EventEmitter };
export default EventEmitter;
