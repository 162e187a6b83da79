// Timers, each of which is an operation of the host that really waits.

// Outstanding operation of each timer, by the number that the script has.
const timers = { __proto__: null };
let lastTimer = 0;

// Calls a function of the script whose result nothing awaits, so that an exception is uncaught. Returns false if it
// threw.
const callUnobserved = (callback, values, self) => {
  try {
    apply(callback, self, values);
    return true;
  } catch (error) {
    native.uncaught(error);
    return false;
  }
};

// Returns the duration of `sleep`, in milliseconds.
const toWait = (delay) => {
  const millis = Number(delay);
  return millis > 0 ? min(millis, 1e12) : 0;
};
// Returns the duration of a timer. As in Node it is at least a millisecond, and a millisecond for a number beyond 32
// bits.
const toDelay = (delay) => {
  const millis = Number(delay);
  if (millis > 2147483647) {
    const message = millis + ' does not fit into a 32-bit signed integer.\nTimeout duration was set to 1.';
    processEvents.warn(message, 'TimeoutOverflowWarning');
  }
  return millis >= 1 && millis <= 2147483647 ? trunc(millis) : 1;
};

// True in the first turn of the script, whose shortest timers may be due at once.
let firstTurn = true;
let dueAtOnce = false;

const startTimer = (timer, delay, fire) => {
  if (firstTurn && delay === 1) dueAtOnce = true;
  const id = native.sleep(delay);
  timers[timer] = id;
  if (contains(unreferenced, timer)) native.keepAlive(id, false);
  outstanding[id] = {
    __proto__: null,
    resolve: fire,
    reject: (record) => native.uncaught(failureError(record, '')),
  };
};

// Timers that do not keep a script alive.
const unreferenced = [];
const setReferenced = (timer, wanted) => {
  for (let i = 0; i < unreferenced.length; i++) if (unreferenced[i] === timer) splice(unreferenced, i--, 1);
  if (!wanted) push(unreferenced, timer);
  if (timer in timers) native.keepAlive(timers[timer], wanted);
};

// Result of `setTimeout`: Node's object, which converts to a number.
class Timeout {
  #timer;
  #restart;
  #isCleared = false;
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
    // As in Node, a timer that was cleared does not begin again; one that has fired does.
    if (this.#isCleared) return this;
    stopTimer(this.#timer);
    this.#restart();
    return this;
  }
  close() {
    this.#isCleared = true;
    stopTimer(this.#timer);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.#timer;
  }
  static clear(timer) {
    if (!isObject(timer) || !(#timer in timer)) return timer;
    timer.#isCleared = true;
    return timer.#timer;
  }
}
class Immediate extends Timeout {}
const { clear: clearedNumber } = Timeout;
delete Timeout.clear;

const stopTimer = (timer) => {
  for (let i = 0; i < immediates.length; i++) if (immediates[i].timer === timer) splice(immediates, i--, 1);
  if ((typeof timer !== 'number' && typeof timer !== 'string') || !(timer in timers)) return;
  cancelOperation(timers[timer]);
  delete timers[timer];
};

// Immediates of this turn, which begin at its end, after the timers that are due. Those of the first turn come after
// its shortest timers, as they nearly always do in Node.
const immediates = [];
const beginImmediates = () => {
  const begun = splice(immediates, 0);
  for (let i = 0; i < begun.length; i++) startTimer(begun[i].timer, firstTurn && dueAtOnce ? 1 : 0, begun[i].fire);
};
const setImmediateTimer = (callback, values) => {
  const timer = ++lastTimer;
  const fire = () => {
    delete timers[timer];
    callUnobserved(callback, values);
  };
  push(immediates, { __proto__: null, timer, fire });
  native.immediateQueued();
  return timer;
};
// Binds a callback to the current stores of `AsyncLocalStorage`, once there are any.
let bindCallback = (callback) => callback;

// Calls back as Node does after a system call: after the timers and immediates of this turn.
const callLater = (callback) => {
  const bound = bindCallback(callback);
  setImmediateTimer(() => void setImmediateTimer(bound, []), []);
};

// Callbacks of `process.nextTick`.
let ticks = [];
let nextTickAt = 0;
const queueTick = (callback, values) => {
  push(ticks, [bindCallback(callback), values]);
  native.tickQueued();
};
// Runs ticks until one throws, whose error is handled before the others run.
const runTicks = () => {
  while (nextTickAt < ticks.length) {
    const tick = ticks[nextTickAt];
    ticks[nextTickAt++] = undefined;
    // Drops the ticks that have run, so that endless queueing of ticks takes no more memory than those that wait.
    if (nextTickAt === 1024) {
      ticks = slice(ticks, nextTickAt);
      nextTickAt = 0;
    }
    if (!callUnobserved(tick[0], tick[1])) {
      if (nextTickAt < ticks.length) native.tickQueued();
      return;
    }
  }
  ticks = [];
  nextTickAt = 0;
};

const checkCallback = (callback, below) => {
  if (typeof callback !== 'function') {
    const message = 'The "callback" argument must be of type function.' + received(callback);
    const error = usageError(TypeError, message, below);
    define(error, 'stack', headerOf(nodeError(error, 'ERR_INVALID_ARG_TYPE')) + indentFrames(framesOf(error)));
    throw error;
  }
};

const timerFunctions = {
  setTimeout(callback, delay, ...values) {
    checkCallback(callback, timerFunctions.setTimeout);
    const timer = ++lastTimer;
    const bound = bindCallback(callback);
    const wait = toDelay(delay);
    const begin = () =>
      startTimer(timer, wait, () => {
        delete timers[timer];
        callUnobserved(bound, values, self);
      });
    begin();
    const self = new Timeout(timer, begin);
    return self;
  },
  setInterval(callback, delay, ...values) {
    checkCallback(callback, timerFunctions.setInterval);
    const timer = ++lastTimer;
    // As in Node, an interval is at least a millisecond; with none, it would never yield.
    const every = max(toDelay(delay), 1);
    const bound = bindCallback(callback);
    const fire = () => {
      startTimer(timer, every, fire);
      callUnobserved(bound, values, self);
    };
    const begin = () => startTimer(timer, every, fire);
    begin();
    const self = new Timeout(timer, begin);
    return self;
  },
  setImmediate(callback, ...values) {
    checkCallback(callback, timerFunctions.setImmediate);
    return new Immediate(setImmediateTimer(bindCallback(callback), values), () => {});
  },
  clearTimeout(timer) {
    stopTimer(clearedNumber(timer));
  },
  clearInterval(timer) {
    stopTimer(clearedNumber(timer));
  },
  clearImmediate(timer) {
    stopTimer(clearedNumber(timer));
  },
  queueMicrotask(callback) {
    checkCallback(callback, timerFunctions.queueMicrotask);
    const bound = bindCallback(callback);
    promiseThen(resolved, () => callUnobserved(bound, []));
  },
  sleep(milliseconds, options) {
    return perform(() => native.sleep(toWait(milliseconds)), timerFunctions.sleep, undefined, signalOf(options));
  },
};
const resolved = apply(Promise.resolve, Promise, []);

for (const name in timerFunctions) defineGlobal(name, timerFunctions[name]);
