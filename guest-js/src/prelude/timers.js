// Timers. They really wait: each is an operation of the host.

// Outstanding operation of each timer, by the number that the script holds.
const timers = { __proto__: null };
let lastTimer = 0;

// Calls a script's function that nothing of the script waits for: what it throws is uncaught. False if it threw.
const callUnobserved = (callback, values) => {
  try {
    apply(callback, undefined, values);
    return true;
  } catch (error) {
    native.uncaught(error);
    return false;
  }
};

// How long `sleep` waits, in milliseconds.
const toWait = (delay) => {
  const millis = Number(delay);
  return millis > 0 ? min(millis, 1e12) : 0;
};
// How long a timer waits. As in Node that is a millisecond at least, and for what is no 32-bit number too.
const toDelay = (delay) => {
  const millis = Number(delay);
  if (millis > 2147483647) {
    const message = millis + ' does not fit into a 32-bit signed integer.\nTimeout duration was set to 1.';
    processEvents.warn(message, 'TimeoutOverflowWarning');
  }
  return millis >= 1 && millis <= 2147483647 ? trunc(millis) : 1;
};

// Whether the script is in its first turn, and a timer of that may be due at once.
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
class Immediate extends Timeout {}
const { numberOf } = Timeout;
delete Timeout.numberOf;

const stopTimer = (timer) => {
  for (let i = 0; i < immediates.length; i++) if (immediates[i].timer === timer) splice(immediates, i--, 1);
  if ((typeof timer !== 'number' && typeof timer !== 'string') || !(timer in timers)) return;
  cancelOperation(timers[timer]);
  delete timers[timer];
};

// Immediates of this turn, which are begun at its end: after what timers are due then. Those of the first turn come after
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
// Ties a callback to what `AsyncLocalStorage` knows where it is given, as soon as there is one.
let bindCallback = (callback) => callback;

// Calls back as Node does after it has asked the system for something: after the timers and immediates of this turn.
const callLater = (callback) => {
  const bound = bindCallback(callback);
  setImmediateTimer(() => void setImmediateTimer(bound, []), []);
};

// What `process.nextTick` was given.
let ticks = [];
let nextTickAt = 0;
const queueTick = (callback, values) => {
  push(ticks, [bindCallback(callback), values]);
  native.tickQueued();
};
// Stops at one that throws: that is dealt with before the others.
const runTicks = () => {
  while (nextTickAt < ticks.length) {
    const tick = ticks[nextTickAt];
    ticks[nextTickAt++] = undefined;
    // Ticks that queue ticks without end take no more memory than those that wait.
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
        callUnobserved(bound, values);
      });
    begin();
    return new Timeout(timer, begin);
  },
  setInterval(callback, delay, ...values) {
    checkCallback(callback, timerFunctions.setInterval);
    const timer = ++lastTimer;
    // As in Node, an interval is at least a millisecond: one of none would never let go.
    const every = max(toDelay(delay), 1);
    const bound = bindCallback(callback);
    const fire = () => {
      startTimer(timer, every, fire);
      callUnobserved(bound, values);
    };
    const begin = () => startTimer(timer, every, fire);
    begin();
    return new Timeout(timer, begin);
  },
  setImmediate(callback, ...values) {
    checkCallback(callback, timerFunctions.setImmediate);
    return new Immediate(setImmediateTimer(bindCallback(callback), values), () => {});
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
