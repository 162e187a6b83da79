// `crypto.subtle`: digests, HMAC, AES and the derivation of keys, as the Web Cryptography API has them.
import { Buffer } from './buffer.js';
import { createCipheriv, createDecipheriv } from './cipher.js';
import { CryptoKey, isKey, makeWebKey, secretOf } from './crypto-bytes.js';
import { hkdfSync, pbkdf2Sync, plainName } from './digests.js';
import { codedError, illegalConstructor } from './util.js';

const { native, asBytes } = host;
const { crypto: web } = globalThis;

const unsupported = (message = 'Unrecognized algorithm name') => new DOMException(message, 'NotSupportedError');
const failed = () => new DOMException('The operation failed for an operation-specific reason', 'OperationError');
const nameOf = (algorithm) => (typeof algorithm === 'string' ? algorithm : algorithm?.name);
const known = ['HMAC', 'AES-CBC', 'AES-CTR', 'AES-GCM', 'PBKDF2', 'HKDF'];
const algorithmOf = (algorithm) => {
  const name = String(nameOf(algorithm)).toUpperCase();
  if (!known.includes(name)) throw unsupported(`${nameOf(algorithm)} is not here: there are digests, ${known.join(', ')}`);
  return name;
};
const webHash = (algorithm) => {
  const name = plainName(nameOf(algorithm));
  if (!['sha1', 'sha256', 'sha384', 'sha512'].includes(name)) throw unsupported();
  return name;
};
const webBytes = (data) => {
  const bytes = typeof data === 'object' && data !== null ? asBytes(data) : undefined;
  if (bytes === undefined) throw new TypeError('the data is bytes: an ArrayBuffer or a view of one');
  return bytes;
};
const bufferOf = (bytes) => new Uint8Array(bytes).buffer;

// Returns the permitted usages of a key, by its algorithm.
const usagesOf = (name) => {
  if (name === 'HMAC') return ['sign', 'verify'];
  return name.startsWith('AES-') ? ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'] : ['deriveKey', 'deriveBits'];
};
const makeKey = (secret, algorithm, extractable, usages) => {
  const name = algorithmOf(algorithm);
  const wrong = [...usages].find((usage) => !usagesOf(name).includes(usage));
  if (wrong !== undefined) throw new DOMException(`Unsupported key usage for ${/^[AH]MAC|^AES/.test(name) ? `an ${name}` : `a ${name}`} key`, 'SyntaxError');
  if (usages.length === 0) throw new DOMException('Usages cannot be empty when importing a secret key.', 'SyntaxError');
  const fields = { name };
  if (name === 'HMAC') Object.assign(fields, { hash: { name: webHash(algorithm.hash).replace('sha', 'SHA-') } });
  if (name.startsWith('AES-') && ![16, 24, 32].includes(secret.length)) throw new DOMException('Invalid key length', 'DataError');
  if (name === 'HMAC' || name.startsWith('AES-')) fields.length = secret.length * 8;
  return makeWebKey(secret, { type: 'secret', extractable, algorithm: fields, usages: [...usages] });
};
const usable = (key, algorithm, usage) => {
  if (!isKey(key) || !(key instanceof CryptoKey)) throw new TypeError('the key is a CryptoKey');
  if (!key.usages.includes(usage) || key.algorithm.name !== algorithmOf(algorithm)) throw new DOMException(key.usages.includes(usage) ? 'Key algorithm mismatch' : `Unable to use this key to ${usage}`, 'InvalidAccessError');
  return secretOf(key);
};
const hashOf = (key) => plainName(key.algorithm.hash.name);

// A counter of 64 bits wraps around without a carry, but the cipher has a carry: an error instead of wrong bytes.
const checkCounter = ({ length }, counter, data) => {
  if (length !== 128 && length !== 64) throw unsupported('counters have 64 or 128 bits here');
  const first = Buffer.from(counter).readBigUInt64BE(8);
  const blocks = BigInt(Math.ceil(webBytes(data).length / 16));
  if (length === 64 && first + blocks > 2n ** 64n) throw unsupported('a counter of 64 bits cannot begin again here: use 128');
};
// Returns the cipher for a message and the parameters of the algorithm, and the length of its tag if there is one.
const cipherFor = (create, algorithm, key, data, usage) => {
  const secret = usable(key, algorithm, usage);
  const mode = key.algorithm.name.slice(4).toLowerCase();
  const vector = webBytes(mode === 'ctr' ? algorithm.counter : algorithm.iv);
  if (mode !== 'gcm') {
    if (vector.length !== 16) throw new DOMException(`algorithm.${mode === 'ctr' ? 'counter' : 'iv'} must contain exactly 16 bytes`, 'OperationError');
    if (mode === 'ctr') checkCounter(algorithm, vector, data);
    return { cipher: create(`aes-${secret.length * 8}-${mode}`, secret, vector), tag: 0 };
  }
  const bits = algorithm.tagLength ?? 128;
  if (![32, 64, 96, 104, 112, 120, 128].includes(bits)) throw new DOMException(`${bits} is not a valid AES-GCM tag length`, 'OperationError');
  const cipher = create(`aes-${secret.length * 8}-gcm`, secret, vector, { authTagLength: bits / 8 });
  if (algorithm.additionalData !== undefined) cipher.setAAD(webBytes(algorithm.additionalData));
  return { cipher, tag: bits / 8 };
};
const encrypt = (algorithm, key, data, usage) => {
  const { cipher, tag } = cipherFor(createCipheriv, algorithm, key, data, usage);
  const parts = [cipher.update(webBytes(data)), cipher.final()];
  if (tag > 0) parts.push(cipher.getAuthTag());
  return bufferOf(Buffer.concat(parts));
};
const decrypt = (algorithm, key, data, usage) => {
  const { cipher, tag } = cipherFor(createDecipheriv, algorithm, key, data, usage);
  const bytes = webBytes(data);
  if (bytes.length < tag) throw new DOMException('The provided data is too small.', 'OperationError');
  if (tag > 0) cipher.setAuthTag(bytes.subarray(bytes.length - tag));
  try {
    return bufferOf(Buffer.concat([cipher.update(bytes.subarray(0, bytes.length - tag)), cipher.final()]));
  } catch {
    throw failed();
  }
};

const derive = (algorithm, key, bits, usage) => {
  const secret = usable(key, algorithm, usage);
  if (typeof bits !== 'number' || bits % 8 !== 0) throw new DOMException('length must be a multiple of 8', 'OperationError');
  const hash = webHash(algorithm.hash);
  const salt = webBytes(algorithm.salt);
  if (key.algorithm.name === 'HKDF') return hkdfSync(hash, secret, salt, webBytes(algorithm.info), bits / 8);
  if (algorithm.iterations === 0) throw new DOMException('iterations cannot be zero', 'OperationError');
  return bufferOf(pbkdf2Sync(secret, salt, algorithm.iterations, bits / 8, hash));
};
const lengthOf = (algorithm) => {
  const name = algorithmOf(algorithm);
  if (name === 'HMAC') return algorithm.length ?? (['sha384', 'sha512'].includes(webHash(algorithm.hash)) ? 1024 : 512);
  if (!name.startsWith('AES-')) throw unsupported();
  if (![128, 192, 256].includes(algorithm.length)) throw new DOMException('Invalid key length', 'OperationError');
  return algorithm.length;
};
const toJwk = (key) => {
  const { name, length } = key.algorithm;
  const alg = name === 'HMAC' ? `HS${hashOf(key).slice(3)}` : `A${length}${name.slice(4)}`;
  return { key_ops: key.usages, ext: key.extractable, kty: 'oct', k: Buffer.from(secretOf(key)).toString('base64url'), alg };
};
const exported = (format, key) => {
  if (!key.extractable) throw new DOMException('key is not extractable', 'InvalidAccessException');
  if (format === 'raw') return bufferOf(secretOf(key));
  if (format === 'jwk') return toJwk(key);
  throw unsupported(`a secret key is exported as raw or jwk, not ${format}`);
};
const imported = (format, data, algorithm, extractable, usages) => {
  if (format !== 'jwk' && format !== 'raw') throw unsupported(`a secret key is imported as raw or jwk, not ${format}`);
  const secret = format === 'jwk' ? new Uint8Array(Buffer.from(data.k, 'base64url')) : webBytes(data).slice();
  return makeKey(secret, algorithm, extractable, usages);
};

const subtle = {
  digest: (algorithm, data) => bufferOf(native.digest(webHash(algorithm), webBytes(data))),
  importKey: imported,
  exportKey: exported,
  generateKey: (algorithm, extractable, usages) => makeKey(native.randomBytes(lengthOf(algorithm) / 8), algorithm, extractable, usages),
  sign(algorithm, key, data) {
    const secret = usable(key, algorithm, 'sign');
    return bufferOf(native.hmac(hashOf(key), secret, webBytes(data)));
  },
  verify(algorithm, key, signature, data) {
    const secret = usable(key, algorithm, 'verify');
    const right = native.hmac(hashOf(key), secret, webBytes(data));
    const given = webBytes(signature);
    return given.length === right.length && right.reduce((difference, byte, at) => difference | (byte ^ given[at]), 0) === 0;
  },
  encrypt: (algorithm, key, data) => encrypt(algorithm, key, data, 'encrypt'),
  decrypt: (algorithm, key, data) => decrypt(algorithm, key, data, 'decrypt'),
  deriveBits: (algorithm, key, bits) => derive(algorithm, key, bits, 'deriveBits'),
  deriveKey: (algorithm, key, type, extractable, usages) => makeKey(new Uint8Array(derive(algorithm, key, lengthOf(type), 'deriveKey')), type, extractable, usages),
  wrapKey(format, key, wrapping, algorithm) {
    const shown = exported(format, key);
    return encrypt(algorithm, wrapping, format === 'jwk' ? Buffer.from(JSON.stringify(shown)) : shown, 'wrapKey');
  },
  unwrapKey(format, data, unwrapping, algorithm, type, extractable, usages) {
    const shown = decrypt(algorithm, unwrapping, data, 'unwrapKey');
    return imported(format, format === 'jwk' ? JSON.parse(Buffer.from(shown).toString()) : shown, type, extractable, usages);
  },
};
// Makes each method return a promise, also for errors in its arguments.
const least = { digest: 2, importKey: 4, exportKey: 2, generateKey: 3, sign: 3, verify: 4, encrypt: 3, decrypt: 3, deriveBits: 2, deriveKey: 5, wrapKey: 4, unwrapKey: 6 };
for (const [name, work] of Object.entries(subtle)) {
  const asked = async (...given) => {
    if (given.length < least[name]) {
      throw codedError(TypeError, 'ERR_MISSING_ARGS', `Failed to execute '${name}' on 'SubtleCrypto': ${least[name]} arguments required, but only ${given.length} present.`);
    }
    return work(...given);
  };
  subtle[name] = { [name]: asked }[name];
}
// As in Node, the two objects are the only ones of their classes.
const classOf = (object, name, more = {}) => {
  const made = { [name]: class { constructor() { throw illegalConstructor(); } } }[name];
  for (const [key, value] of Object.entries(object)) Object.defineProperty(made.prototype, key, { value, writable: true, configurable: true });
  Object.defineProperties(made.prototype, { ...more, [Symbol.toStringTag]: { value: name, configurable: true } });
  return made;
};
const subtleObject = Object.create(classOf(subtle, 'SubtleCrypto').prototype);
const { getRandomValues, randomUUID } = web;
const Crypto = classOf({ getRandomValues, randomUUID }, 'Crypto', { subtle: { get: () => subtleObject, configurable: true } });
for (const name of Object.keys(web)) delete web[name];
Object.setPrototypeOf(web, Crypto.prototype);
export default web;
