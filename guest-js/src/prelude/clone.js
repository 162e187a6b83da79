// `structuredClone`: a deep copy that preserves cycles and instances of the language's own classes.

// True if instances of a script's own classes are refused, because a copy would lose the class.
let cloneStrictly = false;
const isPlain = (value) => {
  const prototype = getPrototypeOf(value);
  return prototype === null || prototype === objectPrototype;
};

// Returns the error of V8 for a value that cannot be copied. It names a function by its text, and an object by its
// class.
const cloneError = (value) => {
  const what =
    typeof value === 'function' ? functionToString(value) : isObject(value) ? '#<' + (constructorName(value) ?? 'Object') + '>' : String(value);
  return new DOMException(what + ' could not be cloned.', 'DataCloneError');
};

const cloneValue = (value, seen) => {
  if (typeof value === 'function' || typeof value === 'symbol') throw cloneError(value);
  if (!isObject(value)) return value;
  if (mapHas(seen, value)) return mapGet(seen, value);
  const name = native.className(value);
  const copier = isArray(value)
    ? cloners.Array
    : typedArrayTag(value) !== undefined
      ? cloners.TypedArray
      : cloners[name];
  if (copier === undefined || native.isProxy(value)) throw cloneError(value);
  return copier(value, seen);
};

const cloneProperties = (from, to, seen) => {
  const keys = objectKeys(from);
  for (let i = 0; i < keys.length; i++) {
    defineProperty(to, keys[i], {
      __proto__: null,
      value: cloneValue(from[keys[i]], seen),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return to;
};

const remember = (seen, value, copy) => {
  mapSet(seen, value, copy);
  return copy;
};

const errorClasses = { __proto__: null, Error, RangeError, ReferenceError, SyntaxError, TypeError };

const cloners = {
  __proto__: null,
  Object(value, seen) {
    if (weakHas(movable, value)) {
      const message = 'Object that needs transfer was found in message but not listed in transferList';
      throw defineCode(new TypeError(message), 'ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST');
    }
    const copy = weakGet(copyable, value);
    if (copy !== undefined && !cloneStrictly) return remember(seen, value, copy());
    if (cloneStrictly && !isPlain(value)) throw cloneError(value);
    return cloneProperties(value, remember(seen, value, {}), seen);
  },
  Array(value, seen) {
    const copy = remember(seen, value, []);
    copy.length = value.length;
    return cloneProperties(value, copy, seen);
  },
  Date: (value, seen) => remember(seen, value, new Date(dateValue(value))),
  RegExp: (value, seen) => remember(seen, value, new RegExp(value.source, value.flags)),
  Number: (value, seen) => remember(seen, value, new Number(objectToNumber(value))),
  String: (value, seen) => remember(seen, value, new String(objectToString(value))),
  Boolean: (value, seen) => remember(seen, value, new Boolean(objectToBoolean(value))),
  BigInt: (value, seen) => remember(seen, value, toObject(objectToBigInt(value))),
  Map(value, seen) {
    const copy = remember(seen, value, new Map());
    mapForEach(value, (item, key) => mapSet(copy, cloneValue(key, seen), cloneValue(item, seen)));
    return copy;
  },
  Set(value, seen) {
    const copy = remember(seen, value, new Set());
    setForEach(value, (item) => setAdd(copy, cloneValue(item, seen)));
    return copy;
  },
  ArrayBuffer(value, seen) {
    if (isDetached(value)) throw new DOMException('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError');
    const from = new Uint8Array(value);
    const options = isResizable(value) ? { __proto__: null, maxByteLength: maxLengthOf(value) } : undefined;
    const copy = new ArrayBuffer(from.length, options);
    typedArraySet(new Uint8Array(copy), from, 0);
    return remember(seen, value, copy);
  },
  // Views of one buffer become views of one copy of it.
  TypedArray(value, seen) {
    const Class = typedArrayClasses[typedArrayTag(value)];
    const buffer = cloneValue(typedArrayBuffer(value), seen);
    return remember(seen, value, new Class(buffer, typedArrayOffset(value), typedArrayLength(value)));
  },
  DataView(value, seen) {
    const buffer = cloneValue(viewBuffer(value), seen);
    return remember(seen, value, new DataView(buffer, viewOffset(value), viewByteLength(value)));
  },
  Error(value, seen) {
    const Class = errorClasses[readString(value, 'name')] ?? Error;
    const copy = remember(seen, value, new Class(readString(value, 'message') ?? ''));
    define(copy, 'stack', headerOf(value) + indentFrames(framesOf(value)));
    if (hasOwn(value, 'cause')) define(copy, 'cause', cloneValue(value.cause, seen));
    return copy;
  },
};

const toObject = Object;
const objectToBigInt = uncurry(BigInt.prototype.valueOf);
const typedArrayClasses = { __proto__: null };
mapList(
  [
    'Int8Array',
    'Uint8Array',
    'Uint8ClampedArray',
    'Int16Array',
    'Uint16Array',
    'Int32Array',
    'Uint32Array',
    'Float16Array',
    'Float32Array',
    'Float64Array',
    'BigInt64Array',
    'BigUint64Array',
  ],
  (name) => {
    typedArrayClasses[name] = globalThis[name];
  },
);

const arrayFrom = Array.from;
const isDetached = uncurry(getOwnPropertyDescriptor(ArrayBuffer.prototype, 'detached').get);
const isResizable = getter(ArrayBuffer.prototype, 'resizable');
const maxLengthOf = getter(ArrayBuffer.prototype, 'maxByteLength');
const transferBuffer = uncurry(ArrayBuffer.prototype.transfer);

// Functions that copy a `Blob` or `File`, whose contents are not properties.
const copyable = new WeakMap();
// Ports, which a message may transfer.
const movable = new WeakMap();
const isBuffer = (value) => isObject(value) && native.className(value) === 'ArrayBuffer';

// Checks a list of values to transfer, before any of them is. The sending port itself cannot be transferred.
const checkTransfer = (transfer, sender) => {
  const listed = new Map();
  for (let i = 0; i < transfer.length; i++) {
    const item = transfer[i];
    const isPort = isObject(item) && weakHas(movable, item);
    if (!isPort && !isBuffer(item)) throw defineCode(new TypeError('Found invalid object in transferList'), 'ERR_INVALID_TRANSFER_OBJECT');
    if (isPort && item === sender) throw new DOMException('Transfer list contains source port', 'DataCloneError');
    if (mapHas(listed, item)) {
      throw new DOMException('Transfer list contains duplicate ' + (isPort ? 'MessagePort' : 'ArrayBuffer'), 'DataCloneError');
    }
    mapSet(listed, item, true);
  }
};

// Copies a value. Buffers in the list are transferred: they become empty in the original.
const cloneWith = (value, transfer, sender) => {
  checkTransfer(transfer, sender);
  const seen = new Map();
  for (let i = 0; i < transfer.length; i++) if (!isBuffer(transfer[i])) mapSet(seen, transfer[i], transfer[i]);
  const copy = cloneValue(value, seen);
  for (let i = 0; i < transfer.length; i++) if (isBuffer(transfer[i]) && !isDetached(transfer[i])) transferBuffer(transfer[i]);
  return copy;
};

// Returns the values to transfer, from the option `transfer`.
const toTransferList = (list, name) => {
  if (list == null) return [];
  if (!isObject(list) || typeof list[symbolIterator] !== 'function') {
    throw defineCode(new TypeError('Optional ' + name + ' argument must be an iterable'), 'ERR_INVALID_ARG_TYPE');
  }
  return apply(arrayFrom, Array, [list]);
};

const structuredClone = {
  structuredClone(value, options) {
    if (arguments.length === 0) throw defineCode(new TypeError('The value argument must be specified'), 'ERR_MISSING_ARGS');
    if (options != null && !isObject(options)) throw defineCode(new TypeError('The options argument must be either an object or undefined'), 'ERR_INVALID_ARG_TYPE');
    return cloneWith(value, toTransferList(isObject(options) ? options.transfer : undefined, 'options.transfer'));
  },
}.structuredClone;
defineGlobal('structuredClone', structuredClone);

// Plain values for JSON in place of objects whose contents are not properties. A `Map` becomes an object if all its
// keys are strings.
const plainForJson = {
  __proto__: null,
  Map(value) {
    const pairs = [];
    let named = true;
    mapForEach(value, (item, key) => {
      if (typeof key !== 'string') named = false;
      push(pairs, [key, item]);
    });
    if (!named) return pairs;
    const object = createObject(null);
    for (let i = 0; i < pairs.length; i++) defineShown(object, pairs[i][0], pairs[i][1]);
    return object;
  },
  Set(value) {
    const items = [];
    setForEach(value, (item) => push(items, item));
    return items;
  },
  Error(value) {
    const object = createObject(null);
    defineShown(object, 'name', readString(value, 'name') ?? 'Error');
    defineShown(object, 'message', readString(value, 'message') ?? '');
    const keys = objectKeys(value);
    for (let i = 0; i < keys.length; i++) defineShown(object, keys[i], value[keys[i]]);
    return object;
  },
  RegExp: (value) => regExpToString(value),
};
native.setPlain((value, name) => plainForJson[name](value));
