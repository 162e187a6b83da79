// `crypto`: digests, HMAC, ciphers and derived keys by native functions, and random numbers from the host.
import { allAbsent } from './absent.js';
import { Buffer } from './buffer.js';
import { createCipheriv, createDecipheriv, Cipheriv, Decipheriv, getCipherInfo, getCiphers } from './cipher.js';
import { bytesOf, createSecretKey, CryptoKey, generateKeySync, KeyObject } from './crypto-bytes.js';
import { constants } from './crypto-constants.js';
import { allHashes, createHash, createHmac, Hash, hkdf, hkdfSync, Hmac, pbkdf2Sync, scrypt, scryptSync } from './digests.js';
import { codedError, invalidType, isWhole, outOfRange } from './util.js';
import web from './webcrypto.js';

const { native, asBytes } = host;

const randomBytes = (size, callback) => {
  if (typeof size !== 'number') throw invalidType('size', 'number', size);
  if (!isWhole(size) || size < 0 || size > 2 ** 31 - 1) {
    throw codedError(RangeError, 'ERR_OUT_OF_RANGE', `The value of "size" is out of range. It must be >= 0 && <= 2147483647. Received ${size}`);
  }
  const bytes = Buffer.from(native.randomBytes(size).buffer);
  if (callback === undefined) return bytes;
  setTimeout(() => callback(null, bytes), 0);
};
const randomInt = (low, high, callback) => {
  if (high === undefined || typeof high === 'function') [low, high, callback] = [0, low, high];
  for (const [name, bound] of [['min', low], ['max', high]]) if (!Number.isSafeInteger(bound)) throw invalidType(name, 'a safe integer', bound);
  if (low >= high) {
    throw codedError(RangeError, 'ERR_OUT_OF_RANGE', `The value of "max" is out of range. It must be greater than the value of "min" (${low}). Received ${high}`);
  }
  if (high - low > 2 ** 48 - 1) throw outOfRange('max - min', '<= 281474976710655', high - low);
  const range = BigInt(high) - BigInt(low);
  // With 128 bits the bias of the remainder is below 2^-64.
  const value = Number(BigInt(`0x${randomBytes(16).toString('hex')}`) % range) + low;
  return callback === undefined ? value : setTimeout(() => callback(undefined, value), 0);
};
const randomFillSync = (buffer, offset = 0, size = buffer?.byteLength - offset) => {
  if (!ArrayBuffer.isView(buffer) && !(buffer instanceof ArrayBuffer)) throw invalidType('buf', 'an instance of ArrayBuffer or ArrayBufferView', buffer);
  asBytes(buffer).set(native.randomBytes(size), offset);
  return buffer;
};

const timingSafeEqual = (a, b) => {
  const [x, y] = [['buf1', a], ['buf2', b]].map(([name, value]) => {
    if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`);
    return bytesOf(value);
  });
  if (x.length !== y.length) throw codedError(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
  let difference = 0;
  for (let i = 0; i < x.length; i++) difference |= x[i] ^ y[i];
  return difference === 0;
};

const randomFill = (buffer, offset, size, callback) => {
  if (typeof offset === 'function') [offset, callback] = [undefined, offset];
  else if (typeof size === 'function') [size, callback] = [undefined, size];
  if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
  randomFillSync(buffer, offset, size);
  setTimeout(() => callback(null, buffer), 0);
};

// Functions for keys, signatures and certificates, which say that they are not here.
const ABSENT = [
  'Certificate', 'DiffieHellman', 'DiffieHellmanGroup', 'ECDH', 'Sign', 'Verify', 'X509Certificate', 'createDiffieHellmanGroup', 'getCurves', 'getDiffieHellman', 'setEngine', 'setFips',
  'checkPrime', 'checkPrimeSync', 'createDiffieHellman', 'createECDH', 'createPrivateKey', 'createPublicKey', 'createSign', 'createVerify', 'diffieHellman',
  'generateKeyPair', 'generateKeyPairSync', 'generatePrime', 'generatePrimeSync', 'privateDecrypt', 'privateEncrypt', 'publicDecrypt', 'publicEncrypt', 'sign', 'verify',
];
export default {
  createHash,
  constants,
  createHmac,
  hash: (name, data, encoding = 'hex') => createHash(name).update(data).digest(encoding),
  getHashes: () => [...allHashes],
  getCiphers,
  getCipherInfo,
  randomBytes,
  randomInt,
  randomUUID(options) {
    if (options !== undefined && (options === null || typeof options !== 'object')) throw invalidType('options', 'object', options);
    const unused = options?.disableEntropyCache;
    if (unused !== undefined && typeof unused !== 'boolean') throw invalidType('options.disableEntropyCache', 'boolean', unused);
    return web.randomUUID();
  },
  randomFill,
  randomFillSync,
  getRandomValues: (target) => web.getRandomValues(target),
  timingSafeEqual,
  pbkdf2Sync,
  pbkdf2: (...values) => {
    const callback = values.pop();
    const key = pbkdf2Sync(...values);
    setTimeout(() => callback(null, key), 0);
  },
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  generateKeySync: (type, options) => generateKeySync(type, options, (size) => native.randomBytes(size)),
  generateKey: (type, options, callback) => {
    if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
    const key = generateKeySync(type, options, (size) => native.randomBytes(size));
    setTimeout(() => callback(null, key), 0);
  },
  ...allAbsent('crypto', ABSENT, 'there are digests, HMAC, AES, pbkdf2, scrypt, hkdf and random numbers'),
  ...allAbsent('crypto', ['Cipher', 'Decipher', 'createCipher', 'createDecipher'], 'its key is weak. Use createCipheriv and createDecipheriv with a key of scrypt'),
  getFips: () => 0,
  secureHeapUsed: () => ({ total: 0, used: 0, utilization: 0, min: 0 }),
  prng: randomBytes,
  pseudoRandomBytes: randomBytes,
  rng: randomBytes,
  scrypt,
  scryptSync,
  hkdf,
  hkdfSync,
  Cipheriv,
  Decipheriv,
  Hash,
  Hmac,
  KeyObject,
  webcrypto: web,
  subtle: web.subtle,
};
export { CryptoKey };
