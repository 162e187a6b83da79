// `worker_threads`: a script is the main thread, and there are no others. Ports carry messages within it.
import { allAbsent } from './absent.js';
import { codedError } from './util.js';

const environment = new Map();
const { EventTarget, Event } = globalThis;

class Worker {
  constructor() {
    throw codedError(
      Error,
      'ERR_FEATURE_UNAVAILABLE',
      'Worker is not available in Tollhouse: a script is one thread. Use `await Promise.all(…)` for calls that wait, and `spawn("node", [file])` of `child_process` for a script of its own',
    );
  }
}

export class MessageEvent extends Event {
  #data;
  #ports;
  constructor(type, { data = null, ports = [] } = {}) {
    super(type);
    this.#data = data;
    this.#ports = ports;
  }
  get data() {
    return this.#data;
  }
  get ports() {
    return this.#ports;
  }
}

let isMaking = false;
const make = (Class) => {
  isMaking = true;
  try {
    return new Class();
  } finally {
    isMaking = false;
  }
};
const missing = (name) => codedError(TypeError, 'ERR_MISSING_ARGS', `Not enough arguments to ${name}.postMessage`);

// Keeps the script from ending, as an open port with a listener does, by a timer so long that it never fires.
const holdOpen = () => setInterval(() => {}, 2 ** 31 - 1);

// Receiver of messages, which delivers one after the other once it is started.
class Receiver extends EventTarget {
  #queue = [];
  // Wrappers of the listeners that `on` and `once` were given, by event and listener.
  #wrapped = new Map();
  #handler = null;
  #isStarted = false;
  #isClosed = false;
  #held;
  // Delivers each message in a task of its own, as a trusted event.
  static deliver(receiver, data) {
    if (receiver.#isClosed) return;
    receiver.#queue.push(data);
    if (receiver.#isStarted) setImmediate(() => receiver.#next());
  }
  static take(receiver) {
    return receiver.#queue.length === 0 ? undefined : { message: receiver.#queue.shift() };
  }
  #next() {
    if (this.#isClosed || !this.#isStarted || this.#queue.length === 0) return;
    this.dispatchEvent(new MessageEvent('message', { data: this.#queue.shift() }));
  }
  start() {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    for (const _ of this.#queue) setImmediate(() => this.#next());
  }
  static stop(receiver) {
    receiver.#isStarted = false;
  }
  ref() {
    if (!this.#isClosed) this.#held ??= holdOpen();
  }
  unref() {
    clearInterval(this.#held);
    this.#held = undefined;
  }
  close() {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.unref();
    setImmediate(() => this.dispatchEvent(new Event('close')));
    return true;
  }
  get onmessage() {
    return this.#handler;
  }
  set onmessage(handler) {
    this.#handler = typeof handler === 'function' ? handler : null;
  }
  #listen(name, listener, once) {
    if (!this.#wrapped.has(name)) this.#wrapped.set(name, new Map());
    const wrapped = this.#wrapped.get(name);
    if (wrapped.has(listener)) return this;
    const call = (event) => {
      if (once) wrapped.delete(listener);
      listener.call(this, name === 'message' ? event.data : event);
    };
    wrapped.set(listener, call);
    this.addEventListener(name, call, { once });
    return this;
  }
  on(name, listener) {
    return this.#listen(name, listener, false);
  }
  once(name, listener) {
    return this.#listen(name, listener, true);
  }
  off(name, listener) {
    const wrapped = this.#wrapped.get(name);
    this.removeEventListener(name, wrapped?.get(listener) ?? listener);
    wrapped?.delete(listener);
    return this;
  }
  addListener(name, listener) {
    return this.on(name, listener);
  }
  removeListener(name, listener) {
    return this.off(name, listener);
  }
}
const { deliver, take, stop } = Receiver;
for (const name of ['deliver', 'take', 'stop']) delete Receiver[name];

const transferOf = (options) => {
  const isList = typeof options === 'object' && typeof options?.[Symbol.iterator] !== 'function';
  return isList ? host.toTransferList(options?.transfer, 'options.transfer') : host.toTransferList(options, 'transferList');
};

// Port that delivers messages, and keeps the script from ending, while it has a listener.
export class MessagePort extends Receiver {
  #other;
  #isListened = false;
  constructor() {
    if (!isMaking) throw codedError(TypeError, 'ERR_CONSTRUCT_CALL_INVALID', 'Constructor cannot be called');
    super();
    host.makeMovable(this);
  }
  static join(a, b) {
    [a.#other, b.#other] = [b, a];
  }
  #follow() {
    const isListened = super.onmessage !== null || host.listenerCount(this, 'message') > 0;
    if (isListened === this.#isListened) return;
    this.#isListened = isListened;
    if (isListened) {
      this.ref();
      this.start();
    } else {
      this.unref();
      stop(this);
    }
  }
  get onmessage() {
    return super.onmessage;
  }
  set onmessage(handler) {
    super.onmessage = handler;
    this.#follow();
  }
  addEventListener(type, listener, options) {
    super.addEventListener(type, listener, options);
    this.#follow();
    // By then the listener has been removed.
    if (options?.signal !== undefined) options.signal.addEventListener('abort', () => queueMicrotask(() => this.#follow()));
  }
  removeEventListener(type, listener) {
    super.removeEventListener(type, listener);
    this.#follow();
  }
  // A listener that is called once has been removed by then.
  dispatchEvent(event) {
    try {
      return super.dispatchEvent(event);
    } finally {
      this.#follow();
    }
  }
  postMessage(...given) {
    if (given.length === 0) throw missing('MessagePort');
    const [message, options] = given;
    const copy = host.cloneWith(message, transferOf(options), this);
    if (this.#other !== undefined) deliver(this.#other, copy);
  }
  close() {
    const other = this.#other;
    this.#other = undefined;
    if (super.close()) setImmediate(() => other?.close());
  }
}
const { join } = MessagePort;
delete MessagePort.join;

export class MessageChannel {
  constructor() {
    this.port1 = make(MessagePort);
    this.port2 = make(MessagePort);
    join(this.port1, this.port2);
  }
}

const channels = new Map();
export class BroadcastChannel extends Receiver {
  #name;
  constructor(...given) {
    if (given.length === 0) throw codedError(TypeError, 'ERR_MISSING_ARGS', 'The "name" argument must be specified');
    super();
    this.#name = String(given[0]);
    channels.set(this.#name, [...(channels.get(this.#name) ?? []), this]);
    // As in Node, an open channel keeps the script alive, with or without a listener.
    this.start();
    this.ref();
  }
  get name() {
    return this.#name;
  }
  postMessage(...given) {
    if (given.length === 0) throw missing('BroadcastChannel');
    if (!channels.get(this.#name).includes(this)) throw new DOMException('BroadcastChannel is closed.', 'InvalidStateError');
    for (const other of channels.get(this.#name)) if (other !== this) deliver(other, host.cloneWith(given[0], []));
  }
  close() {
    channels.set(this.#name, channels.get(this.#name).filter((other) => other !== this));
    super.close();
  }
}

export default {
  isMainThread: true,
  isInternalThread: false,
  parentPort: null,
  workerData: null,
  threadId: 0,
  resourceLimits: {},
  SHARE_ENV: Symbol.for('nodejs.worker_threads.SHARE_ENV'),
  Worker,
  MessageChannel,
  MessagePort,
  BroadcastChannel,
  receiveMessageOnPort: take,
  markAsUntransferable() {},
  ...allAbsent('worker_threads', ['moveMessagePortToContext', 'postMessageToThread'], 'a script is one thread and one context of messages: use MessageChannel'),
  getEnvironmentData: (key) => environment.get(key),
  setEnvironmentData: (key, value) => void (value === undefined ? environment.delete(key) : environment.set(key, value)),
};
