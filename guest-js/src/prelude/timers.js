// Timers. They really wait: each is an operation of the host.

// Outstanding operation of each timer, by the number that the script holds.
const timers = { __proto__: null };
let lastTimer = 0;

// Calls a script's function that nothing of the script waits for: what it throws ends the run.
const callUnobserved = (callback, values) => {
  try {
    apply(callback, undefined, values);
  } catch (error) {
    native.uncaught(error);
  }
};

const toDelay = (delay) => {
  const millis = Number(delay);
  return millis > 0 ? min(millis, 1e12) : 0;
};

const startTimer = (timer, delay, fire) => {
  const id = native.sleep(delay);
  timers[timer] = id;
  outstanding[id] = {
    __proto__: null,
    resolve: fire,
    reject: (record) => native.uncaught(failureError(record, '')),
  };
};

const checkCallback = (callback, below, form) => {
  if (typeof callback !== 'function') {
    throw usageError(TypeError, form + ' takes a function first, got ' + kindOf(callback), below);
  }
};

const timerFunctions = {
  setTimeout(callback, delay, ...values) {
    checkCallback(callback, timerFunctions.setTimeout, 'setTimeout(callback, milliseconds)');
    const timer = ++lastTimer;
    startTimer(timer, toDelay(delay), () => {
      delete timers[timer];
      callUnobserved(callback, values);
    });
    return timer;
  },
  setInterval(callback, delay, ...values) {
    checkCallback(callback, timerFunctions.setInterval, 'setInterval(callback, milliseconds)');
    const timer = ++lastTimer;
    // As in Node, an interval is at least a millisecond: one of none would never let go.
    const every = max(toDelay(delay), 1);
    const fire = () => {
      startTimer(timer, every, fire);
      callUnobserved(callback, values);
    };
    startTimer(timer, every, fire);
    return timer;
  },
  clearTimeout(timer) {
    if (typeof timer !== 'number' || !(timer in timers)) return;
    cancelOperation(timers[timer]);
    delete timers[timer];
  },
  clearInterval(timer) {
    apply(timerFunctions.clearTimeout, undefined, [timer]);
  },
  queueMicrotask(callback) {
    checkCallback(callback, timerFunctions.queueMicrotask, 'queueMicrotask(callback)');
    promiseThen(resolved, () => callUnobserved(callback, []));
  },
  sleep(milliseconds, options) {
    return perform(() => native.sleep(toDelay(milliseconds)), timerFunctions.sleep, undefined, signalOf(options));
  },
};
const resolved = apply(Promise.resolve, Promise, []);

for (const name in timerFunctions) defineGlobal(name, timerFunctions[name]);
