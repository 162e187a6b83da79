// `crypto`: digests and HMAC by the host's code, random bytes from the host. There are no ciphers and no key pairs.
import { Buffer } from './buffer.js';
import stream from './stream.js';
import { codedError, invalidType, outOfRange, isWhole } from './util.js';

const { native, asBytes } = host;
const { crypto: web } = globalThis;

const hashes = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];
const plainName = (name) => String(name).toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha');
const bytesOf = (data, encoding, name = 'data') => {
  if (typeof data === 'string') return new Uint8Array(Buffer.from(data, encoding));
  const bytes = typeof data === 'object' && data !== null ? asBytes(data) : undefined;
  if (bytes === undefined) throw invalidType(name, 'string or an instance of Buffer, TypedArray, or DataView', data);
  return bytes;
};
const shown = (bytes, encoding) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return encoding === undefined || encoding === 'buffer' ? buffer : buffer.toString(encoding);
};

class Hash extends stream.Transform {
  #parts = [];
  #finish;
  #done = false;
  constructor(finish) {
    super();
    this.#finish = finish;
  }
  update(data, encoding) {
    if (this.#done) throw codedError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#parts.push(bytesOf(data, encoding).slice());
    return this;
  }
  digest(encoding) {
    if (this.#done) throw codedError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#done = true;
    return shown(this.#finish(new Uint8Array(Buffer.concat(this.#parts))), encoding);
  }
  copy() {
    const copy = new Hash(this.#finish);
    copy.#parts = [...this.#parts];
    return copy;
  }
  _transform(chunk, encoding, callback) {
    this.update(chunk);
    callback();
  }
  _flush(callback) {
    this.push(this.digest());
    callback();
  }
}
class Hmac extends Hash {}

const createHash = (name) => {
  const algorithm = plainName(name);
  if (typeof name !== 'string') throw invalidType('algorithm', 'string', name);
  if (!hashes.includes(algorithm)) throw new Error('Digest method not supported');
  return new Hash((bytes) => native.digest(algorithm, bytes));
};
const createHmac = (name, key) => {
  if (typeof name !== 'string') throw invalidType('hmac', 'string', name);
  const algorithm = plainName(name);
  if (!hashes.includes(algorithm)) throw codedError(Error, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
  const secret = key instanceof CryptoKey ? secretOf(key) : bytesOf(key, 'utf8', 'key').slice();
  return new Hmac((bytes) => native.hmac(algorithm, secret, bytes));
};

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
  const range = BigInt(high) - BigInt(low);
  // 128 bits: what is uneven in the remainder is below 2^-64.
  const value = Number(BigInt(`0x${randomBytes(16).toString('hex')}`) % range) + low;
  return callback === undefined ? value : setTimeout(() => callback(null, value), 0);
};
const randomFillSync = (buffer, offset = 0, size = buffer.byteLength - offset) => {
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

const pbkdf2Sync = (password, salt, iterations, length, digest) => {
  const algorithm = plainName(digest);
  if (!hashes.includes(algorithm)) throw codedError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${digest}`);
  for (const [name, number, least] of [['iterations', iterations, 1], ['keylen', length, 0]]) {
    if (typeof number !== 'number') throw invalidType(name, 'number', number);
    if (!isWhole(number)) throw outOfRange(name, 'an integer', number);
    if (number < least || number > 2 ** 31 - 1) throw outOfRange(name, `>= ${least} && <= 2147483647`, number);
  }
  const key = bytesOf(password, 'utf8', 'password');
  const blocks = [];
  for (let index = 1, done = 0; done < length; index++) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(index);
    let mac = native.hmac(algorithm, key, new Uint8Array(Buffer.concat([bytesOf(salt), counter])));
    const block = mac.slice();
    for (let i = 1; i < iterations; i++) {
      mac = native.hmac(algorithm, key, mac);
      for (let at = 0; at < block.length; at++) block[at] ^= mac[at];
    }
    blocks.push(block);
    done += block.length;
  }
  return Buffer.concat(blocks).subarray(0, length);
};

// The web's keys: only for HMAC.
const secrets = new WeakMap();
const secretOf = (key) => secrets.get(key);
let making = false;
class CryptoKey {
  constructor(fields) {
    if (!making) throw new TypeError('Illegal constructor');
    Object.assign(this, fields);
  }
}
Object.defineProperty(CryptoKey.prototype, Symbol.toStringTag, { value: 'CryptoKey', configurable: true });

const webHash = (algorithm) => {
  const name = plainName(typeof algorithm === 'string' ? algorithm : algorithm?.name);
  if (!hashes.includes(name) || name === 'md5' || name === 'sha224') throw new DOMException('Unrecognized algorithm name', 'NotSupportedError');
  return name;
};
const onlyHmac = (algorithm) => {
  const name = typeof algorithm === 'string' ? algorithm : algorithm?.name;
  if (String(name).toUpperCase() !== 'HMAC') {
    throw new DOMException(`there is only HMAC here, no ${name}`, 'NotSupportedError');
  }
};
const webBytes = (data) => {
  const bytes = typeof data === 'object' && data !== null ? asBytes(data) : undefined;
  if (bytes === undefined) throw new TypeError('the data is bytes: an ArrayBuffer or a view of one');
  return bytes;
};
const makeKey = (secret, hash, extractable, usages) => {
  making = true;
  try {
    const algorithm = { name: 'HMAC', hash: { name: hash.replace('sha', 'SHA-') }, length: secret.length * 8 };
    const key = new CryptoKey({ type: 'secret', extractable, algorithm, usages: [...usages] });
    secrets.set(key, secret);
    return key;
  } finally {
    making = false;
  }
};
const usable = (key, usage) => {
  if (!secrets.has(key) || !key.usages.includes(usage)) throw new DOMException(`the key is not for ${usage}`, 'InvalidAccessError');
  return plainName(key.algorithm.hash.name);
};
const subtle = {
  async digest(algorithm, data) {
    return native.digest(webHash(algorithm), webBytes(data)).buffer;
  },
  async importKey(format, data, algorithm, extractable, usages) {
    onlyHmac(algorithm);
    const hash = webHash(algorithm.hash);
    if (format === 'jwk') return makeKey(new Uint8Array(Buffer.from(data.k, 'base64url')), hash, extractable, usages);
    if (format !== 'raw') throw new DOMException(`a secret key is imported as raw or jwk, not ${format}`, 'NotSupportedError');
    return makeKey(webBytes(data).slice(), hash, extractable, usages);
  },
  async exportKey(format, key) {
    if (!key.extractable) throw new DOMException('key is not extractable', 'InvalidAccessError');
    const secret = secretOf(key);
    if (format === 'raw') return secret.slice().buffer;
    return { kty: 'oct', k: Buffer.from(secret).toString('base64url'), alg: `HS${plainName(key.algorithm.hash.name).slice(3)}`, ext: true, key_ops: key.usages };
  },
  async generateKey(algorithm, extractable, usages) {
    onlyHmac(algorithm);
    const hash = webHash(algorithm.hash);
    return makeKey(native.randomBytes(algorithm.length ? algorithm.length / 8 : hash === 'sha384' || hash === 'sha512' ? 128 : 64), hash, extractable, usages);
  },
  async sign(algorithm, key, data) {
    onlyHmac(algorithm);
    return native.hmac(usable(key, 'sign'), secretOf(key), webBytes(data)).buffer;
  },
  async verify(algorithm, key, signature, data) {
    onlyHmac(algorithm);
    const right = native.hmac(usable(key, 'verify'), secretOf(key), webBytes(data));
    const given = webBytes(signature);
    return given.length === right.length && timingSafeEqual(given, right);
  },
};
for (const name of ['encrypt', 'decrypt', 'deriveBits', 'deriveKey', 'wrapKey', 'unwrapKey']) {
  subtle[name] = async () => {
    throw new DOMException(`crypto.subtle.${name} is not here: there are digests and HMAC`, 'NotSupportedError');
  };
}
Object.defineProperty(web, 'subtle', { value: subtle, enumerable: true, configurable: true, writable: true });
export { CryptoKey };

const absent = (name) => () => {
  throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `crypto.${name} is not here: there are digests, HMAC, pbkdf2 and random numbers`);
};
export default {
  createHash,
  createHmac,
  hash: (name, data, encoding = 'hex') => createHash(name).update(data).digest(encoding),
  getHashes: () => [...hashes],
  getCiphers: () => [],
  randomBytes,
  randomInt,
  randomUUID: () => web.randomUUID(),
  randomFillSync,
  getRandomValues: (target) => web.getRandomValues(target),
  timingSafeEqual,
  pbkdf2Sync,
  pbkdf2: (...values) => {
    const callback = values.pop();
    const key = pbkdf2Sync(...values);
    setTimeout(() => callback(null, key), 0);
  },
  createCipheriv: absent('createCipheriv'),
  createDecipheriv: absent('createDecipheriv'),
  createSign: absent('createSign'),
  createVerify: absent('createVerify'),
  generateKeyPairSync: absent('generateKeyPairSync'),
  scryptSync: absent('scryptSync'),
  Hash,
  Hmac,
  webcrypto: web,
  subtle,
};
