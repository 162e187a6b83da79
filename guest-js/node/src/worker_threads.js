// `worker_threads`: a script is the main thread, and there are no others. Ports carry messages within it.
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

// Keeps the script from its end, as an open port with a listener does. The longest timer there is: it never fires.
const holdOpen = () => setInterval(() => {}, 2 ** 31 - 1);

// What receives messages: it starts when somebody listens, and delivers one after the other.
class Receiver extends EventTarget {
  #queue = [];
  #listeners = new Map();
  #handler = null;
  #isStarted = false;
  #isClosed = false;
  #held;
  // Delivers a message, each at its own time, as an event of the system.
  static deliver(receiver, data) {
    if (receiver.#isClosed) return;
    receiver.#queue.push(data);
    if (receiver.#isStarted) setImmediate(() => receiver.#next());
  }
  static take(receiver) {
    return receiver.#queue.length === 0 ? undefined : { message: receiver.#queue.shift() };
  }
  #next() {
    if (this.#isClosed || this.#queue.length === 0) return;
    this.dispatchEvent(new MessageEvent('message', { data: this.#queue.shift() }));
  }
  start() {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    this.#held = holdOpen();
    for (const _ of this.#queue) setImmediate(() => this.#next());
  }
  ref() {
    this.#held?.ref();
  }
  unref() {
    this.#held?.unref();
  }
  close() {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    clearInterval(this.#held);
    setImmediate(() => this.dispatchEvent(new Event('close')));
    return true;
  }
  get onmessage() {
    return this.#handler;
  }
  set onmessage(handler) {
    this.#handler = typeof handler === 'function' ? handler : null;
    if (this.#handler !== null) this.start();
  }
  on(name, listener) {
    const wrapped = (event) => listener.call(this, ...(name === 'message' ? [event.data] : []));
    this.#listeners.set(listener, wrapped);
    this.addEventListener(name, wrapped);
    if (name === 'message') this.start();
    return this;
  }
  once(name, listener) {
    const once = (...values) => {
      this.off(name, once);
      listener.apply(this, values);
    };
    return this.on(name, once);
  }
  off(name, listener) {
    this.removeEventListener(name, this.#listeners.get(listener) ?? listener);
    this.#listeners.delete(listener);
    return this;
  }
  addListener(name, listener) {
    return this.on(name, listener);
  }
  removeListener(name, listener) {
    return this.off(name, listener);
  }
}
const { deliver, take } = Receiver;
delete Receiver.deliver;
delete Receiver.take;

export class MessagePort extends Receiver {
  #other;
  constructor() {
    if (!isMaking) throw codedError(TypeError, 'ERR_CONSTRUCT_CALL_INVALID', 'Constructor cannot be called');
    super();
    host.makeMovable(this);
  }
  static join(a, b) {
    [a.#other, b.#other] = [b, a];
  }
  postMessage(...given) {
    if (given.length === 0) throw missing('MessagePort');
    const [message, options] = given;
    const copy = host.cloneWith(message, Array.isArray(options) ? options : [...(options?.transfer ?? [])]);
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
    // As in Node an open channel keeps the script, whether or not somebody listens.
    this.start();
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
  getEnvironmentData: (key) => environment.get(key),
  setEnvironmentData: (key, value) => void (value === undefined ? environment.delete(key) : environment.set(key, value)),
};
