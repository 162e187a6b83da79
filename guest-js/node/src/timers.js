const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;

const waiting = (start, clear) => (delay, value, options) =>
  new Promise((resolve, reject) => {
    const signal = options?.signal;
    const aborted = () =>
      Object.assign(new Error('The operation was aborted', { cause: signal.reason }), { name: 'AbortError', code: 'ABORT_ERR' });
    if (signal?.aborted) return reject(aborted());
    const timer = start(() => resolve(value), delay);
    if (options?.ref === false) timer.unref();
    signal?.addEventListener('abort', () => (clear(timer), reject(aborted())), { once: true });
  });

export const promises = {
  setTimeout: waiting(setTimeout, clearTimeout),
  setImmediate: (value, options) => waiting((resolve) => setImmediate(resolve), clearImmediate)(0, value, options),
  async *setInterval(delay, value) {
    for (;;) {
      await promises.setTimeout(delay);
      yield value;
    }
  },
  scheduler: {
    wait: (delay, options) => promises.setTimeout(delay, undefined, options),
    yield: () => promises.setImmediate(),
  },
};

export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
