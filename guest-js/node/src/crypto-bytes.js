// Arguments of `crypto` that are bytes or keys: texts, buffers, and key objects.
import { Buffer } from './buffer.js';
import { codedError, invalidType } from './util.js';

const { asBytes } = host;

export const KINDS = 'string or an instance of Buffer, TypedArray, or DataView';
export const KINDS_WITH_BUFFERS = 'string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView';
const KINDS_OF_KEYS = `${KINDS_WITH_BUFFERS.replace(', or DataView', ', DataView')}, KeyObject, or CryptoKey`;

export const bytesOf = (data, encoding, name = 'data', kinds = KINDS) => {
  if (typeof data === 'string') return new Uint8Array(Buffer.from(data, encoding));
  const bytes = typeof data === 'object' && data !== null ? asBytes(data) : undefined;
  if (bytes === undefined) throw invalidType(name, kinds, data);
  return bytes;
};

// Secrets of key objects, which a script can read only through the export functions.
const secrets = new WeakMap();
let making = false;
const make = (Class, secret, fields) => {
  making = true;
  try {
    const key = new Class(fields);
    secrets.set(key, secret);
    return key;
  } finally {
    making = false;
  }
};

// Key of the Web Cryptography API.
export class CryptoKey {
  constructor(fields) {
    if (!making) throw new TypeError('Illegal constructor');
    Object.assign(this, fields);
  }
}
Object.defineProperty(CryptoKey.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(depth, options) {
    if (depth < 0) return this;
    const { type, extractable, algorithm, usages } = this;
    return `CryptoKey ${host.inspect({ type, extractable, algorithm, usages }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
  },
  writable: true,
  configurable: true,
});
Object.defineProperty(CryptoKey.prototype, Symbol.toStringTag, { value: 'CryptoKey', configurable: true });

// Key of Node. Only secret keys exist.
export class KeyObject {
  constructor() {
    if (!making) throw new TypeError('Illegal constructor');
  }
  get type() {
    return 'secret';
  }
  equals(other) {
    if (!(other instanceof KeyObject)) throw invalidType('otherKeyObject', 'an instance of KeyObject', other);
    return Buffer.compare(secretOf(this), secretOf(other)) === 0;
  }
  static from(key) {
    if (!(key instanceof CryptoKey)) throw invalidType('key', 'an instance of CryptoKey', key);
    return make(SecretKeyObject, secretOf(key));
  }
}
Object.defineProperty(KeyObject.prototype, Symbol.toStringTag, { value: 'KeyObject', configurable: true });
class SecretKeyObject extends KeyObject {
  get symmetricKeySize() {
    return secretOf(this).length;
  }
  export(options) {
    if (options?.format === 'jwk') return { kty: 'oct', k: Buffer.from(secretOf(this)).toString('base64url') };
    return Buffer.from(secretOf(this));
  }
}

export const secretOf = (key) => secrets.get(key);
export const isKey = (value) => typeof value === 'object' && value !== null && secrets.has(value);
export const makeWebKey = (secret, fields) => make(CryptoKey, secret, fields);
export const createSecretKey = (key, encoding) => make(SecretKeyObject, bytesOf(key, encoding, 'key', KINDS_WITH_BUFFERS).slice());
export const generateKeySync = (type, options, random) => {
  if (type !== 'aes' && type !== 'hmac') throw codedError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'type' must be a supported key type. Received '${type}'`);
  const { length } = options ?? {};
  if (type === 'aes' && ![128, 192, 256].includes(length)) {
    throw codedError(TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.length' must be one of: 128, 192, 256. Received ${length}`);
  }
  return make(SecretKeyObject, random(Math.floor(length / 8)));
};
// Returns the bytes of a key in any form.
export const keyBytes = (key) => (isKey(key) ? secretOf(key) : bytesOf(key, 'utf8', 'key', KINDS_OF_KEYS).slice());
