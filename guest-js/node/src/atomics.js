// `Atomics`. There is one thread, so each operation is a plain one; `wait` lets time pass, since nobody else can notify.
import { codedError } from './util.js';

const { native } = host;
const { clearTimeout: stop, setTimeout: start } = globalThis;
const INTEGERS = ['Int8Array', 'Uint8Array', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array'];
const tagOf = Reflect.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const nameOf = (value) => Object.prototype.toString.call(value);

const checkArray = (array, names, what) => {
  const name = Reflect.apply(tagOf, array, []);
  if (!names.includes(name)) throw new TypeError(`${nameOf(array)} is not an ${what} typed array.`);
  return name;
};
// Returns the index of an element; an index that is not within the array is an error.
const indexOf = (array, index) => {
  const at = Math.trunc(Number(index)) || 0;
  if (at < 0 || at >= array.length) throw new RangeError('Invalid atomic access index');
  return at;
};
const valueFor = (array, value) => {
  if (checkArray(array, INTEGERS, 'integer').startsWith('Big')) {
    if (typeof value === 'number') throw new TypeError(`Cannot convert ${value} to a BigInt`);
    return BigInt.asIntN(64, BigInt(value));
  }
  return Math.trunc(Number(value)) || 0;
};
// Replaces an element by what `change` makes of it and of a value. Returns the element that was there.
const operation = (name, change) =>
  ({
    [name](array, index, value) {
      checkArray(array, INTEGERS, 'integer');
      const at = indexOf(array, index);
      const given = valueFor(array, value);
      const before = array[at];
      array[at] = change(before, given);
      return before;
    },
  })[name];

// Promises of `waitAsync` that wait for an element to be notified.
const waiting = [];
const checkWait = (array, index) => {
  checkArray(array, ['Int32Array', 'BigInt64Array'], 'int32 or BigInt64');
  if (!(array.buffer instanceof SharedArrayBuffer)) throw new TypeError(`${nameOf(array)} is not a shared typed array.`);
  return indexOf(array, index);
};
const timeOf = (timeout) => {
  const millis = timeout === undefined ? NaN : Number(timeout);
  return Number.isNaN(millis) ? Infinity : Math.max(millis, 0);
};

const Atomics = {
  add: operation('add', (before, value) => before + value),
  and: operation('and', (before, value) => before & value),
  compareExchange(array, index, expected, value) {
    checkArray(array, INTEGERS, 'integer');
    const at = indexOf(array, index);
    // Both values are converted as they would be when they are stored.
    const [wanted, next] = new array.constructor([valueFor(array, expected), valueFor(array, value)]);
    const before = array[at];
    if (before === wanted) array[at] = next;
    return before;
  },
  exchange: operation('exchange', (_, value) => value),
  isLockFree: (size) => [1, 2, 4, 8].includes(Math.trunc(Number(size))),
  load(array, index) {
    checkArray(array, INTEGERS, 'integer');
    return array[indexOf(array, index)];
  },
  notify(array, index, count = Infinity) {
    checkArray(array, ['Int32Array', 'BigInt64Array'], 'int32 or BigInt64');
    const at = indexOf(array, index);
    let woken = 0;
    while (woken < Number(count)) {
      const found = waiting.findIndex((one) => one.buffer === array.buffer && one.place === array.byteOffset + at * array.BYTES_PER_ELEMENT);
      if (found < 0) break;
      const [{ wake }] = waiting.splice(found, 1);
      wake();
      woken++;
    }
    return woken;
  },
  or: operation('or', (before, value) => before | value),
  store(array, index, value) {
    checkArray(array, INTEGERS, 'integer');
    const at = indexOf(array, index);
    const given = valueFor(array, value);
    array[at] = given;
    return given;
  },
  sub: operation('sub', (before, value) => before - value),
  wait(array, index, value, timeout) {
    const at = checkWait(array, index);
    if (array[at] !== valueFor(array, value)) return 'not-equal';
    const millis = timeOf(timeout);
    if (millis === Infinity) {
      throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'Atomics.wait would wait forever: a script is one thread, and nobody can notify it. Await a promise, or use Atomics.waitAsync');
    }
    // The clock advances with the work that is done.
    for (const end = native.now() + millis; native.now() < end; );
    return 'timed-out';
  },
  waitAsync(array, index, value, timeout) {
    const at = checkWait(array, index);
    if (array[at] !== valueFor(array, value)) return { async: false, value: 'not-equal' };
    const millis = timeOf(timeout);
    if (millis === 0) return { async: false, value: 'timed-out' };
    const promise = new Promise((resolve) => {
      const one = { buffer: array.buffer, place: array.byteOffset + at * array.BYTES_PER_ELEMENT };
      const timer = millis === Infinity ? undefined : start(() => (waiting.splice(waiting.indexOf(one), 1), resolve('timed-out')), millis).unref();
      one.wake = () => (stop(timer), resolve('ok'));
      waiting.push(one);
    });
    return { async: true, value: promise };
  },
  xor: operation('xor', (before, value) => before ^ value),
};
const shared = Object.create(Object.prototype, { [Symbol.toStringTag]: { value: 'Atomics', configurable: true } });
for (const [name, value] of Object.entries(Atomics)) Object.defineProperty(shared, name, { value, writable: true, configurable: true });
export default shared;
