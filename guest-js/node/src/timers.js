const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;

import { abortError, invalidType, isObject } from './util.js';

const waiting = (start, clear) => (delay, value, options) =>
  new Promise((resolve, reject) => {
    if (delay != null && typeof delay !== 'number') throw invalidType('delay', 'number', delay);
    const signal = options?.signal;
    if (signal !== undefined && !(isObject(signal) && 'aborted' in signal)) throw invalidType('options.signal', 'an instance of AbortSignal', signal);
    if (options?.ref !== undefined && typeof options.ref !== 'boolean') throw invalidType('options.ref', 'boolean', options.ref);
    const aborted = () => abortError(signal);
    if (signal?.aborted) return reject(aborted());
    const timer = start(() => resolve(value), delay);
    if (options?.ref === false) timer.unref();
    signal?.addEventListener('abort', () => (clear(timer), reject(aborted())), { once: true });
  });

export const promises = {
  setTimeout: waiting(setTimeout, clearTimeout),
  setImmediate: (value, options) => waiting((resolve) => setImmediate(resolve), clearImmediate)(0, value, options),
  async *setInterval(delay, value, options) {
    for (;;) {
      await promises.setTimeout(delay, undefined, options);
      yield value;
    }
  },
  scheduler: {
    wait: (delay, options) => promises.setTimeout(delay, undefined, options),
    yield: () => promises.setImmediate(),
  },
};

export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
