// `diagnostics_channel`: named channels within the script.
import process from './process.js';
import { codedError, invalidType } from './util.js';

const channels = new Map();

// Runs `work`, with a store for each storage that is bound to the channel.
const withStores = (stores, message, work) => {
  const [first, ...rest] = stores;
  if (first === undefined) return work();
  const [storage, transform] = first;
  let store = message;
  try {
    if (transform !== undefined) store = transform(message);
  } catch (error) {
    // As in Node, an error of a transformation does not reach the publisher.
    process.nextTick(() => {
      throw error;
    });
    return withStores(rest, message, work);
  }
  return storage.run(store, () => withStores(rest, message, work));
};

const checkFunction = (name, value) => {
  if (typeof value !== 'function') throw invalidType(name, 'function', value);
};

export class Channel {
  constructor(name) {
    // As in Node, both are there while somebody has subscribed.
    this._subscribers = undefined;
    this._stores = undefined;
    this.name = name;
  }
  get hasSubscribers() {
    return this._subscribers !== undefined;
  }
  #activate() {
    this._subscribers ??= [];
    this._stores ??= new Map();
  }
  #rest() {
    if (this._subscribers.length > 0 || this._stores.size > 0) return;
    this._subscribers = undefined;
    this._stores = undefined;
  }
  subscribe(subscription) {
    checkFunction('subscription', subscription);
    this.#activate();
    this._subscribers = [...this._subscribers, subscription];
  }
  unsubscribe(subscription) {
    const at = this._subscribers?.indexOf(subscription) ?? -1;
    if (at < 0) return false;
    this._subscribers = this._subscribers.toSpliced(at, 1);
    this.#rest();
    return true;
  }
  bindStore(storage, transform) {
    this.#activate();
    this._stores.set(storage, transform);
  }
  unbindStore(storage) {
    const isBound = this._stores?.delete(storage) ?? false;
    if (isBound) this.#rest();
    return isBound;
  }
  publish(message) {
    for (const subscriber of this._subscribers ?? []) {
      try {
        subscriber(message, this.name);
      } catch (error) {
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
  runStores(message, work, self, ...values) {
    return withStores([...(this._stores ?? [])], message, () => {
      this.publish(message);
      return Reflect.apply(work, self, values);
    });
  }
}

export const channel = (name) => {
  if (typeof name !== 'string' && typeof name !== 'symbol') throw invalidType('channel', 'one of type string or symbol', name);
  if (!channels.has(name)) channels.set(name, new Channel(name));
  return channels.get(name);
};
export const subscribe = (name, subscription) => channel(name).subscribe(subscription);
export const unsubscribe = (name, subscription) => channel(name).unsubscribe(subscription);
export const hasSubscribers = (name) => channels.get(name)?.hasSubscribers ?? false;

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
const channelOf = (channels, event) => {
  if (typeof channels === 'string') return channel(`tracing:${channels}:${event}`);
  const given = channels?.[event];
  if (!(given instanceof Channel)) throw invalidType(`nameOrChannels.${event}`, 'an instance of Channel', given);
  return given;
};

class TracingChannel {
  constructor(channels) {
    for (const event of EVENTS) Object.defineProperty(this, event, { value: channelOf(channels, event), configurable: true });
  }
  get hasSubscribers() {
    return EVENTS.some((event) => this[event].hasSubscribers);
  }
  subscribe(handlers) {
    for (const event of EVENTS) if (handlers[event]) this[event].subscribe(handlers[event]);
  }
  unsubscribe(handlers) {
    return EVENTS.filter((event) => handlers[event] && !this[event].unsubscribe(handlers[event])).length === 0;
  }
  traceSync(work, context = {}, self, ...values) {
    return this.start.runStores(context, () => {
      try {
        context.result = Reflect.apply(work, self, values);
        return context.result;
      } catch (error) {
        context.error = error;
        this.error.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }
  tracePromise(work, context = {}, self, ...values) {
    const settle = (publishes, field) => (value) => {
      context[field] = value;
      if (publishes) this.error.publish(context);
      this.asyncStart.publish(context);
      this.asyncEnd.publish(context);
      if (publishes) throw value;
      return value;
    };
    return this.start.runStores(context, () => {
      try {
        const promise = Reflect.apply(work, self, values);
        return Promise.resolve(promise).then(settle(false, 'result'), settle(true, 'error'));
      } catch (error) {
        context.error = error;
        this.error.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }
  traceCallback(work, position = -1, context = {}, self = undefined, ...values) {
    const callback = values.at(position);
    checkFunction('callback', callback);
    const { asyncStart, asyncEnd, error: errors } = this;
    const wrapped = function (error, result) {
      if (error) {
        context.error = error;
        errors.publish(context);
      } else {
        context.result = result;
      }
      return asyncStart.runStores(context, () => {
        try {
          return Reflect.apply(callback, this, arguments);
        } finally {
          asyncEnd.publish(context);
        }
      });
    };
    values.splice(position, 1, wrapped);
    return this.start.runStores(context, () => {
      try {
        return Reflect.apply(work, self, values);
      } catch (error) {
        context.error = error;
        this.error.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }
}

export const tracingChannel = (channels) => {
  if (typeof channels !== 'string' && (typeof channels !== 'object' || channels === null)) {
    throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "nameOrChannels" argument must be of type string or an instance of TracingChannel or Object.${host.received(channels)}`);
  }
  return new TracingChannel(channels);
};

export default { channel, hasSubscribers, subscribe, tracingChannel, unsubscribe, Channel };
