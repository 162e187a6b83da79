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
  if (contains(unreferenced, timer)) native.keepAlive(id, false);
  outstanding[id] = {
    __proto__: null,
    resolve: fire,
    reject: (record) => native.uncaught(failureError(record, '')),
  };
};

// Timers for which a script that came to its end does not wait.
const unreferenced = [];
const setReferenced = (timer, wanted) => {
  for (let i = 0; i < unreferenced.length; i++) if (unreferenced[i] === timer) splice(unreferenced, i--, 1);
  if (!wanted) push(unreferenced, timer);
  if (timer in timers) native.keepAlive(timers[timer], wanted);
};

// What `setTimeout` gives: Node's object, and where a number is wanted, a number.
class Timeout {
  #timer;
  #restart;
  constructor(timer, restart) {
    this.#timer = timer;
    this.#restart = restart;
  }
  ref() {
    setReferenced(this.#timer, true);
    return this;
  }
  unref() {
    setReferenced(this.#timer, false);
    return this;
  }
  hasRef() {
    return !contains(unreferenced, this.#timer);
  }
  refresh() {
    stopTimer(this.#timer);
    this.#restart();
    return this;
  }
  close() {
    stopTimer(this.#timer);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.#timer;
  }
  static numberOf(timer) {
    return isObject(timer) && #timer in timer ? timer.#timer : timer;
  }
}
const { numberOf } = Timeout;
delete Timeout.numberOf;

const stopTimer = (timer) => {
  if ((typeof timer !== 'number' && typeof timer !== 'string') || !(timer in timers)) return;
  cancelOperation(timers[timer]);
  delete timers[timer];
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
    const begin = () =>
      startTimer(timer, toDelay(delay), () => {
        delete timers[timer];
        callUnobserved(callback, values);
      });
    begin();
    return new Timeout(timer, begin);
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
    const begin = () => startTimer(timer, every, fire);
    begin();
    return new Timeout(timer, begin);
  },
  setImmediate(callback, ...values) {
    checkCallback(callback, timerFunctions.setImmediate, 'setImmediate(callback)');
    return apply(timerFunctions.setTimeout, undefined, [() => apply(callback, undefined, values), 0]);
  },
  clearTimeout(timer) {
    stopTimer(numberOf(timer));
  },
  clearInterval(timer) {
    stopTimer(numberOf(timer));
  },
  clearImmediate(timer) {
    stopTimer(numberOf(timer));
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
