// `crypto`: digests and HMAC by the host's code, random bytes from the host. There are no ciphers and no key pairs.
import { Buffer } from './buffer.js';
import stream from './stream.js';
import { codedError, invalidType, outOfRange, isWhole } from './util.js';

const { native, asBytes } = host;
const { crypto: web } = globalThis;

const hashes = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];
const plainName = (name) => String(name).toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha');
const KINDS = 'string or an instance of Buffer, TypedArray, or DataView';
const KINDS_WITH_BUFFERS = 'string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView';
const bytesOf = (data, encoding, name = 'data', kinds = KINDS) => {
  if (typeof data === 'string') return new Uint8Array(Buffer.from(data, encoding));
  const bytes = typeof data === 'object' && data !== null ? asBytes(data) : undefined;
  if (bytes === undefined) throw invalidType(name, kinds, data);
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

const randomFill = (buffer, offset, size, callback) => {
  if (typeof offset === 'function') [offset, callback] = [undefined, offset];
  else if (typeof size === 'function') [size, callback] = [undefined, size];
  if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
  randomFillSync(buffer, offset, size);
  setTimeout(() => callback(null, buffer), 0);
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

const scryptNames = { N: 'cost', r: 'blockSize', p: 'parallelization' };
const scryptParameters = (options) => {
  const wanted = { N: 16384, r: 8, p: 1, maxmem: 32 * 1024 * 1024 };
  const take = (name, value, most) => {
    if (typeof value !== 'number') throw invalidType(name, 'number', value);
    if (!isWhole(value)) throw outOfRange(name, 'an integer', value);
    if (value < 0 || value > most) throw outOfRange(name, `>= 0 && <= ${most}`, value);
    return value;
  };
  for (const [name, other] of Object.entries(scryptNames)) {
    if (options?.[name] !== undefined && options[other] !== undefined) {
      throw codedError(Error, 'ERR_CRYPTO_SCRYPT_INVALID_PARAMETER', 'Invalid scrypt parameter');
    }
    for (const given of [name, other]) {
      // Zero asks for the standard, as in Node.
      if (options?.[given] !== undefined) wanted[name] = take(given, options[given], 2 ** 32 - 1) || wanted[name];
    }
  }
  if (options?.maxmem !== undefined) wanted.maxmem = take('maxmem', options.maxmem, Number.MAX_SAFE_INTEGER) || wanted.maxmem;
  const refuse = (why) => codedError(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', `Invalid scrypt params${why}`);
  const { N, r, p, maxmem } = wanted;
  if (N < 2 || !isWhole(Math.log2(N)) || Math.log2(N) >= 16 * r) throw refuse('');
  if (128 * r * (p + N + 2) > maxmem) throw refuse(': error:030000AC:digital envelope routines::memory limit exceeded');
  return wanted;
};
const checkScrypt = (password, salt, length, options) => {
  const parameters = scryptParameters(options);
  const [key, grains] = [bytesOf(password, 'utf8', 'password', KINDS_WITH_BUFFERS), bytesOf(salt, 'utf8', 'salt', KINDS_WITH_BUFFERS)];
  if (typeof length !== 'number') throw invalidType('keylen', 'number', length);
  if (!isWhole(length)) throw outOfRange('keylen', 'an integer', length);
  if (length < 0 || length > 2 ** 31 - 1) throw outOfRange('keylen', '>= 0 && <= 2147483647', length);
  return { key, grains, ...parameters };
};
const scryptSync = (password, salt, length, options) => {
  const { key, grains, N, r, p } = checkScrypt(password, salt, length, options);
  if (length === 0) return Buffer.alloc(0);
  const mixed = pbkdf2Sync(key, grains, 1, 128 * r * p, 'sha256');
  const scratch = new Uint8Array(128 * r * N);
  for (let at = 0; at < mixed.length; at += 128 * r) {
    const block = new Uint8Array(mixed.subarray(at, at + 128 * r));
    native.scryptMix(block, scratch, N);
    mixed.set(block, at);
  }
  return pbkdf2Sync(key, mixed, 1, length, 'sha256');
};
const scrypt = (password, salt, length, options, callback) => {
  if (typeof options === 'function') [options, callback] = [undefined, options];
  checkScrypt(password, salt, length, options);
  if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
  const key = scryptSync(password, salt, length, options);
  setTimeout(() => callback(null, key), 0);
};

const HKDF_KINDS = 'string or an instance of ArrayBuffer, TypedArray, DataView, or Buffer';
const hkdfSync = (digest, key, salt, info, length) => {
  if (typeof digest !== 'string') throw invalidType('digest', 'string', digest);
  const secret = bytesOf(key, 'utf8', 'ikm', HKDF_KINDS.replace('ArrayBuffer', 'SecretKeyObject, ArrayBuffer'));
  const [grains, context] = [bytesOf(salt, 'utf8', 'salt', HKDF_KINDS), bytesOf(info, 'utf8', 'info', HKDF_KINDS)];
  if (typeof length !== 'number') throw invalidType('length', 'number', length);
  if (!isWhole(length)) throw outOfRange('length', 'an integer', length);
  if (length < 0 || length > 2 ** 32) throw outOfRange('length', '>= 0 && <= 4294967296', length);
  if (context.length > 1024) throw outOfRange('info', 'must not contain more than 1024 bytes', context.length);
  const algorithm = plainName(digest);
  if (!hashes.includes(algorithm)) throw codedError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${digest}`);
  const start = native.hmac(algorithm, grains, secret);
  if (length > 255 * start.length) throw codedError(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
  const blocks = [];
  let block = new Uint8Array(0);
  for (let done = 0; done < length; done += block.length) {
    block = native.hmac(algorithm, start, new Uint8Array(Buffer.concat([block, context, Uint8Array.of(blocks.length + 1)])));
    blocks.push(block);
  }
  return new Uint8Array(Buffer.concat(blocks)).buffer.slice(0, length);
};
const hkdf = (digest, key, salt, info, length, callback) => {
  if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
  const derived = hkdfSync(digest, key, salt, info, length);
  setTimeout(() => callback(null, derived), 0);
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
  throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `crypto.${name} is not here: there are digests, HMAC, pbkdf2, scrypt, hkdf and random numbers`);
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
  createCipheriv: absent('createCipheriv'),
  createDecipheriv: absent('createDecipheriv'),
  createSign: absent('createSign'),
  createVerify: absent('createVerify'),
  generateKeyPairSync: absent('generateKeyPairSync'),
  scrypt,
  scryptSync,
  hkdf,
  hkdfSync,
  Hash,
  Hmac,
  webcrypto: web,
  subtle,
};
