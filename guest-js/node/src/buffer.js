// `Buffer`: a library, with the engine's conversions of text where they are faster or more complete.
import * as library from '../node_modules/buffer/index.js';
import { codedError, invalidType, outOfRange, isWhole, provide, invalidValue } from './util.js';

const { Buffer, SlowBuffer, kMaxLength } = library;
const { native, toHex, toLatin1 } = host;

const fromBytes = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
const plain = (buffer, start = 0, end = buffer.length) =>
  new Uint8Array(buffer.buffer, buffer.byteOffset + start, Math.max(0, end - start));

// Matches the longest hexadecimal start of a text, in whole bytes.
const HEX_PAIRS = /^(?:[0-9a-f]{2})*/i;

const fromText = Buffer.from;
// Refuses a value that is neither a string nor convertible to bytes.
const checkSource = (value) => {
  if (typeof value === 'object' && value !== null) {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value.length !== undefined || value.type === 'Buffer') return value;
    if (/^(Shared)?ArrayBuffer$/.test(native.className(value))) return value;
    const plainValue = value.valueOf?.();
    if (plainValue != null && plainValue !== value && ['string', 'object'].includes(typeof plainValue)) return value;
    const primitive = typeof value[Symbol.toPrimitive] === 'function' ? value[Symbol.toPrimitive]('string') : undefined;
    if (typeof primitive === 'string') return primitive;
  }
  const expected = 'The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object.';
  const { message } = invalidType('x', 'string', value);
  throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', expected + message.slice(message.indexOf(' Received')));
};
// Checks the part of an `ArrayBuffer` that a buffer will show.
const checkBounds = (size, offset, length) => {
  const from = Number(offset) || 0;
  const refuse = (name) => codedError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', `"${name}" is outside of buffer bounds`);
  if (from > size) throw refuse('offset');
  if (length !== undefined && (Number(length) || 0) > size - from) throw refuse('length');
};
Buffer.from = {
  from(value, encoding, length) {
    if (typeof value !== 'string') {
      const source = checkSource(value);
      if (/^(Shared)?ArrayBuffer$/.test(native.className(source))) checkBounds(source.byteLength, encoding, length);
      return typeof source === 'string' ? Buffer.from(source, encoding) : fromText(source, encoding, length);
    }
    switch (String(encoding ?? 'utf8').toLowerCase()) {
      case 'utf8':
      case 'utf-8':
        return fromBytes(native.encodeUtf8(value));
      case 'base64':
      case 'base64url': {
        // As in Node, padding ends the data.
        const [data] = value.split('=', 1);
        const text = data.replace(/-/g, '+').replace(/_/g, '/').replace(/[^A-Za-z0-9+/]/g, '');
        return fromText(text, 'base64');
      }
      case 'hex':
        // Node.js stops at the first pair that is not hexadecimal; the library would read half of it.
        return fromText(HEX_PAIRS.exec(value)[0], 'hex');
      default:
        if (!isEncoding(encoding)) throw codedError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
        return fromText(value, encoding);
    }
  },
}.from;

const isEncoding = Buffer.isEncoding;
Buffer.isEncoding = (encoding) => String(encoding).toLowerCase() === 'base64url' || isEncoding(encoding);

const toText = Buffer.prototype.toString;
Buffer.prototype.toString = function toString(encoding, start, end) {
  const from = Math.min(Math.max(Math.trunc(start) || 0, 0), this.length);
  const to = end === undefined ? this.length : Math.min(Math.max(Math.trunc(end) || 0, from), this.length);
  switch (String(encoding ?? 'utf8').toLowerCase()) {
    case 'utf8':
    case 'utf-8':
      return native.decodeUtf8Lossy(plain(this, from, to));
    case 'base64':
      return native.encodeBase64(plain(this, from, to));
    case 'base64url':
      return native.encodeBase64(plain(this, from, to)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
    case 'hex':
      return toHex(plain(this, from, to));
    case 'latin1':
    case 'binary':
      return toLatin1(plain(this, from, to));
    default:
      if (!isEncoding(encoding)) throw codedError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
      return toText.call(this, encoding, from, to);
  }
};
Buffer.prototype.toLocaleString = Buffer.prototype.toString;

const byteLength = Buffer.byteLength;
Buffer.byteLength = (value, encoding) => {
  if (typeof value !== 'string' && !ArrayBuffer.isView(value) && !/ArrayBuffer$/.test(native.className(value))) throw invalidType('string', 'string or an instance of Buffer or ArrayBuffer', value);
  if (typeof value === 'string' && /^utf-?8$/i.test(encoding ?? 'utf8')) return native.encodeUtf8(value).length;
  if (typeof value === 'string' && /^base64(url)?$/i.test(encoding)) return (value.replace(/={1,2}$/, '').length * 3) >>> 2;
  return byteLength(value, encoding);
};

const write = Buffer.prototype.write;
Buffer.prototype.write = function (text, offset, length, encoding) {
  if (typeof text !== 'string') throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', 'argument must be a string');
  if (typeof offset === 'string' && length === undefined) return this.write(text, 0, this.length, offset);
  if (offset !== undefined && typeof offset !== 'number') throw invalidType('offset', 'number', offset);
  if (typeof offset === 'number' && !(offset >= 0 && offset <= this.length)) throw outOfRange('offset', `>= 0 && <= ${this.length}`, offset);
  if (typeof length === 'string') return this.write(text, offset, this.length - offset, length);
  if (/^hex$/i.test(encoding)) {
    const [pairs] = HEX_PAIRS.exec(text);
    return pairs === '' ? 0 : write.call(this, pairs, offset ?? 0, length ?? this.length - (offset ?? 0), encoding);
  }
  if (encoding === 'base64url') {
    const bytes = Buffer.from(text, encoding);
    return bytes.copy(this, offset ?? 0, 0, Math.min(bytes.length, length ?? this.length));
  }
  return write.call(this, text, offset ?? 0, length ?? this.length - (offset ?? 0), encoding);
};

// Returns true for an empty value, which is found where the search begins; the library does not find it.
const isNothing = (value) => value === '' || (value instanceof Uint8Array && value.length === 0);
for (const name of ['indexOf', 'lastIndexOf']) {
  const find = Buffer.prototype[name];
  Buffer.prototype[name] = {
    [name](value, offset, encoding) {
      if (typeof value !== 'string' && typeof value !== 'number' && !(value instanceof Uint8Array)) {
        throw invalidType('value', 'one of type number or string or an instance of Buffer or Uint8Array', value);
      }
      if (!isNothing(value)) return find.call(this, value, offset, encoding);
      const from = Math.trunc(offset ?? NaN);
      if (Number.isNaN(from)) return name === 'indexOf' ? 0 : this.length;
      return from < 0 ? Math.max(this.length + from, 0) : Math.min(from, this.length);
    },
  }[name];
}
Buffer.prototype.includes = function includes(value, offset, encoding) {
  return this.indexOf(value, offset, encoding) !== -1;
};

// Shows a buffer as `<Buffer 68 69>`.
const inspectBuffer = function (depth, options) {
  const shown = [...plain(this, 0, Math.min(this.length, 50))].map((byte) => byte.toString(16).padStart(2, '0'));
  const left = this.length - 50;
  const rest = left > 0 ? ` ... ${left} more byte${left === 1 ? '' : 's'}` : '';
  // Properties of its own are shown behind the bytes.
  const own = Object.entries(this).filter(([key]) => !/^\d+$/.test(key));
  const extra = own.length > 0 && options ? `, ${host.inspect(Object.fromEntries(own), { ...options, breakLength: Infinity, compact: true }).slice(2, -2)}` : '';
  return `<Buffer ${shown.join(' ')}${rest}${extra}>`;
};
Object.defineProperty(Buffer.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value: inspectBuffer,
  writable: true,
  configurable: true,
});
Object.defineProperty(Buffer.prototype, 'constructor', { value: Buffer, writable: true, configurable: true });
Buffer.prototype.toJSON = function toJSON() {
  return { type: 'Buffer', data: [...plain(this)] };
};
for (const name of Object.keys(Buffer.prototype)) {
  // Node has both spellings of these methods.
  if (/U[Ii]nt/.test(name)) Buffer.prototype[name.replace('UInt', 'Uint')] ??= Buffer.prototype[name];
}
Object.defineProperty(Buffer.prototype, Symbol.toStringTag, Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag));

for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow']) {
  const work = Buffer[name];
  Buffer[name] = {
    [name](size, ...values) {
      if (typeof size !== 'number') throw invalidType('size', 'number', size);
      if (!(size >= 0 && size <= kMaxLength)) {
        const range = `>= 0 && <= ${kMaxLength}`;
        throw codedError(RangeError, 'ERR_OUT_OF_RANGE', `The value of "size" is out of range. It must be ${range}. Received ${size}`);
      }
      return work(size, ...values);
    },
  }[name];
}

// The library checks numbers differently from Node, or not at all.
const checkInteger = (name, value) => {
  if (typeof value !== 'number') throw invalidType(name, 'number', value);
  if (!isWhole(value)) throw outOfRange(name, 'an integer', value);
};
const checkOffset = (buffer, offset, size) => {
  checkInteger('offset', offset);
  const most = buffer.length - size;
  if (most < 0) throw codedError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
  if (offset < 0 || offset > most) throw outOfRange('offset', `>= 0 and <= ${most}`, offset);
};
const checkValue = (value, bits, isSigned, isBig) => {
  const [least, most] = isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  if (isBig) {
    if (typeof value !== 'bigint') throw new TypeError('Cannot mix BigInt and other types, use explicit conversions');
    if (isSigned ? BigInt.asIntN(bits, value) === value : BigInt.asUintN(bits, value) === value) return;
    throw outOfRange('value', isSigned ? `>= -(2n ** ${bits - 1}n) and < 2n ** ${bits - 1}n` : `>= 0n and < 2n ** ${bits}n`, value);
  }
  if (value >= least && value <= most) return;
  if (Number.isNaN(Number(value))) return;
  const range = bits <= 32 ? `>= ${least} and <= ${most}` : isSigned ? `>= -(2 ** ${bits - 1}) and < 2 ** ${bits - 1}` : `>= 0 and < 2 ** ${bits}`;
  throw outOfRange('value', range, value);
};
// Returns the size and type of the number that a method reads or writes; the size is `undefined` if it is an argument.
const shapeOf = (name) => {
  const [, kind, bits] = /^(?:read|write)(Big)?U?[Ii]nt(\d*)/.exec(name) ?? [];
  const isInteger = /[Ii]nt/.test(name);
  const size = isInteger ? (bits === '' ? undefined : bits / 8) : /Double/.test(name) ? 8 : 4;
  return { size, isBig: kind === 'Big', isInteger, isSigned: !/U[Ii]nt/.test(name) };
};
for (const name of Object.getOwnPropertyNames(Buffer.prototype)) {
  if (!/^(read|write)[A-Z]/.test(name)) continue;
  const work = Buffer.prototype[name];
  const { size, isBig, isInteger, isSigned } = shapeOf(name);
  // The usual case, which needs no further check: an integer whose size is part of the name, at a position within the
  // buffer.
  const isPlain = size !== undefined && !isBig;
  const [least, most] = !isInteger ? [-Infinity, Infinity] : isSigned ? [-(2 ** (size * 8 - 1)), 2 ** (size * 8 - 1) - 1] : [0, 2 ** (size * 8) - 1];
  const isWithin = (buffer, offset) => (offset | 0) === offset && offset >= 0 && offset + size <= buffer.length;
  const check = (buffer, value, offset, given, isWrite) => {
    const bytes = size ?? given;
    if (size === undefined) {
      checkInteger('byteLength', bytes);
      if (bytes < 1 || bytes > 6) throw outOfRange('byteLength', '>= 1 and <= 6', bytes);
    }
    if (isWrite && isInteger) checkValue(value, bytes * 8, isSigned, isBig);
    checkOffset(buffer, offset, bytes);
  };
  const checked = name.startsWith('read')
    ? {
        [name](offset = size === undefined ? undefined : 0, byteLength) {
          if (!(isPlain && isWithin(this, offset))) check(this, undefined, offset, byteLength, false);
          return work.call(this, offset, size === undefined ? byteLength : true);
        },
      }[name]
    : {
        [name](value, offset = size === undefined ? undefined : 0, byteLength) {
          // A BigInt is not accepted for these types.
          const number = isBig ? value : +value;
          if (!(isPlain && number >= least && number <= most && isWithin(this, offset))) check(this, number, offset, byteLength, true);
          return size === undefined ? work.call(this, number, offset, byteLength, true) : work.call(this, number, offset, true);
        },
      }[name];
  Object.defineProperty(Buffer.prototype, name, { value: checked });
}

const bytesWanted = (name, value) => {
  if (!(value instanceof Uint8Array)) throw invalidType(name, 'an instance of Buffer or Uint8Array', value);
  return value;
};
// Further arguments that the library accepts unchecked, or refuses without an error code.
const { compare, concat } = Buffer;
const { compare: compareTo, copy, equals, fill } = Buffer.prototype;
Buffer.compare = (a, b) => compare(bytesWanted('buf1', a), bytesWanted('buf2', b));
Buffer.concat = function (list, length) {
  if (!Array.isArray(list)) throw invalidType('list', 'an instance of Array', list);
  list.forEach((part, at) => bytesWanted(`list[${at}]`, part));
  return concat(list, length);
};
const methods = {
  compare(target, ...rest) {
    return compareTo.call(this, bytesWanted('target', target), ...rest);
  },
  copy(target, targetStart, sourceStart, sourceEnd) {
    bytesWanted('target', target);
    for (const [name, place, most] of [['targetStart', targetStart, Infinity], ['sourceStart', sourceStart, this.length], ['sourceEnd', sourceEnd, Infinity]]) {
      if (place === undefined) continue;
      const whole = Math.trunc(place) || 0;
      if (whole < 0 || whole > most) throw outOfRange(name, most === Infinity ? '>= 0' : `>= 0 && <= ${most}`, place);
    }
    return copy.call(this, target, targetStart, sourceStart, sourceEnd);
  },
  equals(other) {
    return equals.call(this, bytesWanted('otherBuffer', other));
  },
  fill(value, offset, end, encoding) {
    for (const [name, place, most] of [['offset', offset, kMaxLength], ['end', end, this.length]]) {
      if (typeof place !== 'number') continue;
      checkInteger(name, place);
      if (place < 0 || place > most) throw outOfRange(name, `>= 0 && <= ${most}`, place);
    }
    if (typeof offset === 'number' && offset >= (typeof end === 'number' ? end : this.length)) return this;
    const used = [offset, end, encoding].find((given) => typeof given === 'string');
    if (typeof value === 'string' && used !== undefined) {
      if (!Buffer.isEncoding(used)) throw codedError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${used}`);
      if (value !== '' && Buffer.from(value, used).length === 0) throw invalidValue('value', value);
    }
    if (value instanceof Uint8Array && value.length === 0) throw invalidValue('value', value);
    return fill.call(this, value, offset, end, encoding);
  },
};
for (const name of ['swap16', 'swap32', 'swap64']) {
  const swap = Buffer.prototype[name];
  const bits = name.slice(4);
  methods[name] = function () {
    if (this.length % (bits / 8) !== 0) throw codedError(RangeError, 'ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${bits}-bits`);
    return swap.call(this);
  };
}
for (const [name, method] of Object.entries(methods)) Buffer.prototype[name] = Object.defineProperty(method, 'name', { value: name });
// The same as `toString` and `write` with an encoding, under names that old code uses.
for (const encoding of ['ascii', 'base64', 'base64url', 'hex', 'latin1', 'ucs2', 'utf8']) {
  for (const [kind, method] of [['Slice', (self, start, end) => self.toString(encoding, start, end)], ['Write', (self, text, offset = 0, length = self.length - offset) => self.write(text, offset, length, encoding)]]) {
    const name = encoding + kind;
    const value = { [name](...values) { return method(this, ...values); } }[name];
    Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true, enumerable: true });
  }
}
Buffer.copyBytesFrom = (view, offset = 0, length = view?.length - offset) => {
  if (!ArrayBuffer.isView(view) || native.className(view) === 'DataView') throw invalidType('view', 'an instance of TypedArray', view);
  for (const [name, place] of [['offset', offset], ['length', length]]) {
    checkInteger(name, place);
    if (place < 0 && name === 'offset') throw outOfRange(name, '>= 0', place);
  }
  const part = view.subarray(offset, offset + Math.max(length, 0));
  return Buffer.from(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
};
provide({ Buffer });

export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 0x1fffffe8 };
export const isUtf8 = (bytes) => native.decodeUtf8(plain(Buffer.from(bytes))) != null;
export const isAscii = (bytes) => [...plain(Buffer.from(bytes))].every((byte) => byte < 128);
export { Buffer, SlowBuffer, kMaxLength };
export const INSPECT_MAX_BYTES = 50;
// Highest code point of the encodings that do not cover all of Unicode.
const lastOf = { ascii: 0x7f, latin1: 0xff, binary: 0xff };
export const transcode = (source, from, to) => {
  const text = Buffer.from(source).toString(from);
  const last = lastOf[String(to).toLowerCase()];
  return Buffer.from(last === undefined ? text : Array.from(text, (point) => (point.codePointAt(0) > last ? '?' : point)).join(''), to);
};
export default {
  Buffer,
  SlowBuffer,
  kMaxLength,
  kStringMaxLength: constants.MAX_STRING_LENGTH,
  resolveObjectURL: (url) => host.objectUrls.get(`${url}`),
  constants,
  INSPECT_MAX_BYTES,
  isUtf8,
  isAscii,
  transcode,
  atob: globalThis.atob,
  btoa: globalThis.btoa,
  get Blob() {
    return globalThis.Blob;
  },
  get File() {
    return globalThis.File;
  },
};
