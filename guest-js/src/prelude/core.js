// Foundation of the prelude: the language's own functions, saved before any script runs.
//
// A script may replace `Promise`, `Map`, `JSON` or `Array.prototype.push`; the prelude must keep working then, and must
// not expose its own functions. So the prelude calls no method through a prototype, iterates nothing with `for … of`,
// spreads and destructures no array, and has no template literals (QuickJS makes them with `String.prototype.concat`):
// all of these use functions that a script can replace. The exception is reading an iterable of the script.

const {
  AggregateError,
  Array,
  ArrayBuffer,
  BigInt,
  Boolean,
  DOMException: EngineDOMException,
  DataView,
  Date,
  Error,
  Function,
  Map,
  Math,
  Number,
  Object,
  Promise,
  Proxy,
  RangeError,
  ReferenceError,
  Reflect,
  RegExp,
  Set,
  String,
  Symbol,
  SyntaxError,
  TypeError,
  Uint8Array,
  WeakMap,
} = globalThis;
const { parse: parseJson, stringify: stringifyJson } = globalThis.JSON;
const { apply, construct, ownKeys, getOwnPropertyDescriptor } = Reflect;
const { create: createObject, defineProperty, freeze, getPrototypeOf, setPrototypeOf, keys: objectKeys, is: objectIs } = Object;
const { isArray } = Array;
const { isInteger, isNaN: isNan, isFinite: isFiniteNumber } = Number;
const { floor, max, min, round, sqrt, trunc } = Math;

// Turns a method into a function whose first argument is `this`.
const uncurry = (method) => apply(Function.prototype.bind, Function.prototype.call, [method]);
const getter = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);

const hasOwn = uncurry(Object.prototype.hasOwnProperty);
const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
const functionToString = uncurry(Function.prototype.toString);
const join = uncurry(Array.prototype.join);
const slice = uncurry(Array.prototype.slice);
const sort = uncurry(Array.prototype.sort);
const splice = uncurry(Array.prototype.splice);
const charCodeAt = uncurry(String.prototype.charCodeAt);
const endsWith = uncurry(String.prototype.endsWith);
const includes = uncurry(String.prototype.includes);
const indexOf = uncurry(String.prototype.indexOf);
const lastIndexOf = uncurry(String.prototype.lastIndexOf);
const padEnd = uncurry(String.prototype.padEnd);
const padStart = uncurry(String.prototype.padStart);
const repeat = uncurry(String.prototype.repeat);
const split = uncurry(String.prototype.split);
const startsWith = uncurry(String.prototype.startsWith);
const substring = uncurry(String.prototype.substring);
const toLowerCase = uncurry(String.prototype.toLowerCase);
const trim = uncurry(String.prototype.trim);
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapHas = uncurry(Map.prototype.has);
const mapDelete = uncurry(Map.prototype.delete);
const mapSize = getter(Map.prototype, 'size');
const mapForEach = uncurry(Map.prototype.forEach);
const setSize = getter(Set.prototype, 'size');
const setForEach = uncurry(Set.prototype.forEach);
const setAdd = uncurry(Set.prototype.add);
const weakGet = uncurry(WeakMap.prototype.get);
const weakSet = uncurry(WeakMap.prototype.set);
const weakHas = uncurry(WeakMap.prototype.has);
const promiseThen = uncurry(Promise.prototype.then);
const dateToIso = uncurry(Date.prototype.toISOString);
const dateValue = uncurry(Date.prototype.getTime);
const objectToBoolean = uncurry(Boolean.prototype.valueOf);
const objectToNumber = uncurry(Number.prototype.valueOf);
const objectToString = uncurry(String.prototype.valueOf);
const regExpToString = uncurry(RegExp.prototype.toString);
const regExpTest = (
  (exec) => (pattern, text) =>
    exec(pattern, text) !== null
)(uncurry(RegExp.prototype.exec));
const regExpExec = uncurry(RegExp.prototype.exec);
const symbolToString = uncurry(Symbol.prototype.toString);
const numberToString = uncurry(Number.prototype.toString);
const bigIntToString = uncurry(BigInt.prototype.toString);

const TypedArray = getPrototypeOf(Uint8Array);
const typedArrayTag = getter(TypedArray.prototype, Symbol.toStringTag);
const typedArrayLength = getter(TypedArray.prototype, 'length');
const typedArrayBuffer = getter(TypedArray.prototype, 'buffer');
const typedArrayOffset = getter(TypedArray.prototype, 'byteOffset');
const typedArrayByteLength = getter(TypedArray.prototype, 'byteLength');
const typedArraySet = uncurry(TypedArray.prototype.set);
const subarray = uncurry(TypedArray.prototype.subarray);
const viewBuffer = getter(DataView.prototype, 'buffer');
const viewOffset = getter(DataView.prototype, 'byteOffset');
const viewByteLength = getter(DataView.prototype, 'byteLength');

const objectPrototype = Object.prototype;
const symbolIterator = Symbol.iterator;
const symbolAsyncIterator = Symbol.asyncIterator;
const symbolToStringTag = Symbol.toStringTag;

// Appends to a list without using `Array.prototype`.
const push = (list, value) => {
  defineProperty(list, list.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
};
const mapList = (list, change) => {
  const changed = [];
  for (let i = 0; i < list.length; i++) push(changed, change(list[i], i));
  return changed;
};
const contains = (list, value) => {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return true;
  return false;
};

// Defines a property that a script may replace, as it may those of the language.
const define = (target, name, value) => {
  defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
};
// Defines a property that belongs to the description of a value, and is shown with it.
const defineShown = (target, name, value) => {
  defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
};
const defineGetter = (target, name, get, set) => {
  defineProperty(target, name, { __proto__: null, get, set, enumerable: false, configurable: true });
};
const defineGlobal = (name, value) => define(globalThis, name, value);

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Returns true for a record: `{…}`, or an instance of a script's own class, but not of the language's classes.
const isRecord = (value) =>
  (typeof value === 'object' &&
    value !== null &&
    !isArray(value) &&
    !native.isProxy(value) &&
    native.className(value) === 'Object') ||
  (typeof value === 'object' && value !== null && native.isProxy(value) && !isArray(value));

// Returns the bytes of a `Uint8Array`, another view or an `ArrayBuffer`, without a copy; undefined for anything else.
const asBytes = (value) => {
  const name = native.className(value);
  if (name === 'Uint8Array') return value;
  if (name === 'ArrayBuffer' || name === 'SharedArrayBuffer') return new Uint8Array(value);
  if (name === 'DataView') return new Uint8Array(viewBuffer(value), viewOffset(value), viewByteLength(value));
  if (isObject(value) && typedArrayTag(value) !== undefined) {
    return new Uint8Array(typedArrayBuffer(value), typedArrayOffset(value), typedArrayByteLength(value));
  }
  return undefined;
};

// Returns the word for the type of a value in messages.
const kindOf = (value) => {
  if (value === null) return 'null';
  if (isArray(value)) return 'an array';
  if (typeof value === 'object') {
    const name = native.isProxy(value) ? 'Proxy' : native.className(value);
    return name === 'Object' ? 'an object' : (regExpTest(/^[AEIOU]/, name) ? 'an' : 'a') + ' ' + name;
  }
  if (typeof value === 'undefined') return 'undefined';
  return 'a ' + typeof value;
};

// Functions that are part of the engine itself.
const engineFunctions = new WeakMap();
const engineNames = ownKeys(globalThis);
for (let at = 0; at < engineNames.length; at++) {
  const value = globalThis[engineNames[at]];
  if (typeof value === 'function') weakSet(engineFunctions, value, true);
}
