// Digests, HMAC, and keys derived with them: PBKDF2 (RFC 8018), scrypt (RFC 7914), HKDF (RFC 5869).
import { Buffer } from './buffer.js';
import { bytesOf, keyBytes, KINDS_WITH_BUFFERS } from './crypto-bytes.js';
import stream from './stream.js';
import { codedError, invalidType, outOfRange, isWhole } from './util.js';

const { native } = host;

export const hashes = [
  'blake2b512', 'blake2s256', 'md5', 'ripemd160', 'sha1', 'sha224', 'sha256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512', 'sha384', 'sha512', 'sha512-224', 'sha512-256',
];
// Digests of any length, with the lengths that they have if none is asked for. There is no HMAC with them.
const shakes = { __proto__: null, shake128: 16, shake256: 32 };
export const allHashes = [...hashes, ...Object.keys(shakes)];
const aliases = { ripemd: 'ripemd160', rmd160: 'ripemd160' };
export const plainName = (name) => {
  const plain = String(name).toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha').replace('/', '-');
  return Object.hasOwn(aliases, plain) ? aliases[plain] : plain;
};
const shown = (bytes, encoding) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  // As in Node, an encoding that nobody knows is none.
  return Buffer.isEncoding(encoding) ? buffer.toString(encoding) : buffer;
};

// Base class that becomes a stream when it is first used as one, as in Node: most digests are not, and constructing a
// stream takes longer than most digests.
function LazyTransform() {}
Object.setPrototypeOf(LazyTransform, stream.Transform);
LazyTransform.prototype = Object.create(stream.Transform.prototype);
for (const name of ['_readableState', '_writableState']) {
  const become = (self) => {
    for (const state of ['_readableState', '_writableState']) Object.defineProperty(self, state, { value: undefined, writable: true, enumerable: true, configurable: true });
    stream.Transform.call(self);
  };
  Object.defineProperty(LazyTransform.prototype, name, {
    get() {
      become(this);
      return this[name];
    },
    set(value) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
    },
    configurable: true,
  });
}

export class Hash extends LazyTransform {
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
  // A digest that was fed as a stream is both readable and available from `digest()`.
  _flush(callback) {
    this.push(shown(this.#finish(new Uint8Array(Buffer.concat(this.#parts)))));
    callback();
  }
}
export class Hmac extends Hash {
  #finished = false;
  // As in Node, a second digest is empty, and no error.
  digest(encoding) {
    if (this.#finished) return shown(new Uint8Array(0), encoding);
    this.#finished = true;
    return super.digest(encoding);
  }
}

// The memory of a digest is allocated at once, beyond the limits of the script's own values.
const LONGEST_SHAKE = 2 ** 24;
const checkedLength = (options) => {
  const length = options?.outputLength;
  if (length === undefined) return undefined;
  if (typeof length !== 'number') throw invalidType('options.outputLength', 'number', length);
  if (!isWhole(length)) throw outOfRange('options.outputLength', 'an integer', length);
  if (length < 0 || length > 2 ** 32 - 1) throw outOfRange('options.outputLength', '>= 0 && <= 4294967295', length);
  return length;
};
export const createHash = (name, options) => {
  const algorithm = plainName(name);
  if (typeof name !== 'string') throw invalidType('algorithm', 'string', name);
  const length = checkedLength(options);
  if (algorithm in shakes) {
    if (length > LONGEST_SHAKE) throw outOfRange('options.outputLength', `>= 0 && <= ${LONGEST_SHAKE}`, length);
    return new Hash((bytes) => native.shake(algorithm, bytes, length ?? shakes[algorithm]));
  }
  if (!hashes.includes(algorithm)) throw new Error('Digest method not supported');
  if (length !== undefined && length !== native.digest(algorithm, new Uint8Array(0)).length) {
    const words = 'error:030000B2:digital envelope routines::not XOF or invalid length';
    throw codedError(Error, 'ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH', words);
  }
  return new Hash((bytes) => native.digest(algorithm, bytes));
};
export const createHmac = (name, key) => {
  if (typeof name !== 'string') throw invalidType('hmac', 'string', name);
  const algorithm = plainName(name);
  if (!hashes.includes(algorithm)) throw codedError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
  const secret = keyBytes(key);
  return new Hmac((bytes) => native.hmac(algorithm, secret, bytes));
};

// Number of rounds of PBKDF2 between two checks of the script's limits.
const ROUNDS = 1000;

export const pbkdf2Sync = (password, salt, iterations, length, digest) => {
  if (typeof digest !== 'string') throw invalidType('digest', 'string', digest);
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
    for (let left = iterations - 1; left > 0; left -= ROUNDS) {
      const codes = native.hmacRounds(algorithm, key, mac, Math.min(left, ROUNDS));
      mac = codes.slice(0, block.length);
      for (let at = 0; at < block.length; at++) block[at] ^= codes[block.length + at];
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
      // Zero asks for the default, as in Node.
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
export const scryptSync = (password, salt, length, options) => {
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
export const scrypt = (password, salt, length, options, callback) => {
  if (typeof options === 'function') [options, callback] = [undefined, options];
  checkScrypt(password, salt, length, options);
  if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
  const key = scryptSync(password, salt, length, options);
  setTimeout(() => callback(null, key), 0);
};

const HKDF_KINDS = 'string or an instance of ArrayBuffer, TypedArray, DataView, or Buffer';
export const hkdfSync = (digest, key, salt, info, length) => {
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
export const hkdf = (digest, key, salt, info, length, callback) => {
  if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
  const derived = hkdfSync(digest, key, salt, info, length);
  setTimeout(() => callback(null, derived), 0);
};
