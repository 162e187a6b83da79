// `Buffer`: the library, with text made and read by the engine where that is faster or fuller.
import * as library from '../node_modules/buffer/index.js';
import { codedError, invalidType } from './util.js';

const { Buffer, SlowBuffer, kMaxLength } = library;
const { native, toHex, toLatin1 } = host;

const fromBytes = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
const plain = (buffer, start = 0, end = buffer.length) =>
  new Uint8Array(buffer.buffer, buffer.byteOffset + start, Math.max(0, end - start));

const fromText = Buffer.from;
Buffer.from = {
  from(value, encoding, length) {
    if (typeof value !== 'string') return fromText(value, encoding, length);
    switch (String(encoding ?? 'utf8').toLowerCase()) {
      case 'utf8':
      case 'utf-8':
        return fromBytes(native.encodeUtf8(value));
      case 'base64':
      case 'base64url': {
        const text = value.replace(/-/g, '+').replace(/_/g, '/').replace(/[^A-Za-z0-9+/]/g, '');
        return fromText(text, 'base64');
      }
      case 'hex':
        // Node.js stops at the first pair that is not hexadecimal; the library reads the half of it.
        return fromText(/^(?:[0-9a-f]{2})*/i.exec(value)[0], 'hex');
      default:
        if (!isEncoding(encoding)) throw Object.assign(new TypeError(`Unknown encoding: ${encoding}`), { code: 'ERR_UNKNOWN_ENCODING' });
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
      return toText.call(this, encoding, from, to);
  }
};
Buffer.prototype.toLocaleString = Buffer.prototype.toString;

const byteLength = Buffer.byteLength;
Buffer.byteLength = (value, encoding) => {
  if (typeof value === 'string' && /^utf-?8$/i.test(encoding ?? 'utf8')) return native.encodeUtf8(value).length;
  if (typeof value === 'string' && encoding === 'base64url') return Buffer.from(value, encoding).length;
  return byteLength(value, encoding);
};

const write = Buffer.prototype.write;
Buffer.prototype.write = function (text, offset, length, encoding) {
  if (typeof offset === 'string') return this.write(text, 0, this.length, offset);
  if (typeof length === 'string') return this.write(text, offset, this.length - offset, length);
  if (encoding === 'base64url') {
    const bytes = Buffer.from(text, encoding);
    return bytes.copy(this, offset ?? 0, 0, Math.min(bytes.length, length ?? this.length));
  }
  return write.call(this, text, offset ?? 0, length ?? this.length - (offset ?? 0), encoding);
};

// As `<Buffer 68 69>`.
const inspectBuffer = function () {
  const shown = [...plain(this, 0, Math.min(this.length, 50))].map((byte) => byte.toString(16).padStart(2, '0'));
  const left = this.length - 50;
  const rest = left > 0 ? ` ... ${left} more byte${left === 1 ? '' : 's'}` : '';
  return `<Buffer ${shown.join(' ')}${rest}>`;
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
  // Node has both spellings, and shows neither.
  if (/U[Ii]nt/.test(name)) Buffer.prototype[name.replace('UInt', 'Uint')] ??= Buffer.prototype[name];
  const { configurable } = Object.getOwnPropertyDescriptor(Buffer.prototype, name);
  if (configurable) Object.defineProperty(Buffer.prototype, name, { enumerable: false });
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

// The library's errors have no codes.
for (const name of Object.getOwnPropertyNames(Buffer.prototype)) {
  if (!/^(read|write)[A-Z]/.test(name)) continue;
  const work = Buffer.prototype[name];
  const coded = {
    [name](...values) {
      try {
        return work.apply(this, values);
      } catch (error) {
        if (error instanceof RangeError) error.code ??= 'ERR_OUT_OF_RANGE';
        throw error;
      }
    },
  }[name];
  Object.defineProperty(Buffer.prototype, name, { value: coded });
}

export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 0x1fffffe8 };
export const isUtf8 = (bytes) => native.decodeUtf8(plain(Buffer.from(bytes))) != null;
export const isAscii = (bytes) => [...plain(Buffer.from(bytes))].every((byte) => byte < 128);
export { Buffer, SlowBuffer, kMaxLength };
export const INSPECT_MAX_BYTES = 50;
export const transcode = (source, from, to) => Buffer.from(Buffer.from(source).toString(from), to);
export default {
  Buffer,
  SlowBuffer,
  kMaxLength,
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
