// `createCipheriv` and `createDecipheriv`: AES, whose modes are native functions. States, padding and errors are
// handled here.
import { Buffer } from './buffer.js';
import { bytesOf, keyBytes, KINDS_WITH_BUFFERS } from './crypto-bytes.js';
import stringDecoder from './string_decoder.js';
import stream from './stream.js';
import { codedError, invalidType } from './util.js';

const { native } = host;
const BLOCK = 16;
const TAG = 16;
// Numbers of OpenSSL's object identifiers, which `getCipherInfo` returns.
const numbers = {
  'aes-128-ecb': 418, 'aes-128-cbc': 419, 'aes-192-ecb': 422, 'aes-192-cbc': 423, 'aes-256-ecb': 426, 'aes-256-cbc': 427,
  'aes-128-gcm': 895, 'aes-192-gcm': 898, 'aes-256-gcm': 901, 'aes-128-ctr': 904, 'aes-192-ctr': 905, 'aes-256-ctr': 906,
};
const vectorLengths = { ecb: 0, cbc: 16, ctr: 16, gcm: 12 };
const ciphers = Object.keys(numbers).sort();
const aliases = { aes128: 'aes-128-cbc', aes192: 'aes-192-cbc', aes256: 'aes-256-cbc' };
for (const bits of [128, 192, 256]) aliases[`id-aes${bits}-gcm`] = `aes-${bits}-gcm`;
// Families of ciphers in OpenSSL that are not supported, for a precise error.
const elsewhere = /^(?:(?:id-)?aes|aria|bf|camellia|cast5?|chacha20|des|rc[245]|seed|sm4)\b/;

const find = (name) => {
  const plain = String(name).toLowerCase();
  const known = Object.hasOwn(aliases, plain) ? aliases[plain] : plain;
  if (!Object.hasOwn(numbers, known)) return undefined;
  const [, bits, mode] = known.split('-');
  return { name: known, mode, keyLength: Number(bits) / 8 };
};
const findOrThrow = (name) => {
  if (typeof name !== 'string') throw invalidType('cipher', 'string', name);
  const found = find(name);
  if (found !== undefined) return found;
  if (elsewhere.test(name.toLowerCase())) {
    throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `the cipher '${name}' is not here: there is AES in the modes ecb, cbc, ctr and gcm`);
  }
  throw codedError(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
};

export const getCiphers = () => [...ciphers];
export const getCipherInfo = (given, options) => {
  const name = typeof given === 'number' ? ciphers.find((cipher) => numbers[cipher] === given) : given;
  const found = name === undefined ? undefined : find(name);
  if (found === undefined) return undefined;
  const { mode, keyLength } = found;
  const ivLength = options?.ivLength ?? vectorLengths[mode];
  if ((options?.keyLength ?? keyLength) !== keyLength || !isVector(mode, ivLength)) return undefined;
  const info = { mode, name: mode === 'gcm' ? `id-aes${keyLength * 8}-gcm` : found.name, nid: numbers[found.name] };
  // Stream modes have a block size of 1.
  info.blockSize = mode === 'ecb' || mode === 'cbc' ? BLOCK : 1;
  if (mode !== 'ecb') info.ivLength = ivLength;
  return { ...info, keyLength };
};
const isVector = (mode, length) => (mode === 'gcm' ? length > 0 : length === vectorLengths[mode]);

const provider = (code, reason, number) =>
  Object.assign(new Error(`error:${number}:Provider routines::${reason}`), { library: 'Provider routines', reason, code });
const wrongLength = () => provider('ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH', 'wrong final block length', '1C80006B');
const badDecrypt = () => provider('ERR_OSSL_BAD_DECRYPT', 'bad decrypt', '1C800064');
const wrongState = (operation) =>
  codedError(Error, 'ERR_CRYPTO_INVALID_STATE', operation === undefined ? 'Invalid state' : `Invalid state for operation ${operation}`);
const checkTagLength = (length) => {
  if (length === 4 || length === 8 || (length >= 12 && length <= TAG)) return length;
  throw codedError(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${length}`);
};
const concat = (...parts) => new Uint8Array(Buffer.concat(parts));

// Block mode: a partial block waits for more data.
class Blocks {
  #mode;
  #encrypt;
  #key;
  #vector;
  #rest = new Uint8Array(0);
  pads = true;
  constructor({ mode }, encrypt, key, vector) {
    this.#mode = mode;
    this.#encrypt = encrypt;
    this.#key = key;
    this.#vector = vector;
  }
  #run(bytes) {
    if (bytes.length === 0) return bytes;
    const out = native.aesBlocks(this.#mode, this.#encrypt, this.#key, this.#vector, bytes);
    if (this.#mode === 'cbc') this.#vector = (this.#encrypt ? out : bytes).slice(-BLOCK);
    return out;
  }
  update(bytes) {
    const all = concat(this.#rest, bytes);
    let whole = all.length - (all.length % BLOCK);
    // The last block may be padding, which is only known at the end.
    if (!this.#encrypt && this.pads && whole === all.length && whole > 0) whole -= BLOCK;
    this.#rest = all.slice(whole);
    return this.#run(all.slice(0, whole));
  }
  final() {
    const rest = this.#rest;
    if (!this.pads) {
      if (rest.length !== 0) throw wrongLength();
      return rest;
    }
    if (this.#encrypt) return this.#run(concat(rest, new Uint8Array(BLOCK - rest.length).fill(BLOCK - rest.length)));
    if (rest.length !== BLOCK) throw wrongLength();
    const out = this.#run(rest);
    const padding = out[BLOCK - 1];
    if (padding < 1 || padding > BLOCK || out.slice(BLOCK - padding).some((byte) => byte !== padding)) throw badDecrypt();
    return out.slice(0, BLOCK - padding);
  }
}

// Counter mode: data is combined with encrypted counters.
class Counters {
  #key;
  #counter;
  #offset = 0;
  constructor(key, counter) {
    this.#key = key;
    this.#counter = counter;
  }
  update(bytes) {
    const out = native.aesStream(false, this.#key, this.#counter, this.#offset, bytes);
    this.#offset += bytes.length;
    return out;
  }
  final() {
    return new Uint8Array(0);
  }
}

// Counter mode with a tag over the encrypted and the associated data (GCM).
class Authenticated {
  #encrypt;
  #key;
  #counter;
  #length = 0;
  #encrypted = [];
  associated = [];
  tag;
  tagLength;
  constructor(encrypt, key, vector, tagLength) {
    this.#encrypt = encrypt;
    this.#key = key;
    this.#counter = native.aesGcmCounter(key, vector);
    this.tagLength = tagLength;
  }
  update(bytes) {
    // The first counter block is reserved for the tag.
    const out = native.aesStream(true, this.#key, this.#counter, BLOCK + this.#length, bytes);
    this.#length += bytes.length;
    this.#encrypted.push((this.#encrypt ? out : bytes).slice());
    return out;
  }
  final() {
    const tag = native.aesGcmTag(this.#key, this.#counter, concat(...this.associated), concat(...this.#encrypted));
    if (this.#encrypt) {
      this.tag = tag.slice(0, this.tagLength ?? TAG);
    } else if (this.tag === undefined || this.tag.reduce((difference, byte, at) => difference | (byte ^ tag[at]), 0) !== 0) {
      throw new Error('Unsupported state or unable to authenticate data');
    }
    return new Uint8Array(0);
  }
}

const begin = (spec, encrypt, key, vector, tagLength) => {
  if (spec.mode === 'gcm') return new Authenticated(encrypt, key, vector, tagLength);
  return spec.mode === 'ctr' ? new Counters(key, vector) : new Blocks(spec, encrypt, key, vector);
};

class Cipher extends stream.Transform {
  #cipher;
  #state = 'new';
  #decoder;
  #encoding;
  constructor(encrypt, name, key, vector, options) {
    super(options);
    const spec = findOrThrow(name);
    const secret = keyBytes(key);
    const start = vector === null ? new Uint8Array(0) : bytesOf(vector, 'utf8', 'iv', KINDS_WITH_BUFFERS).slice();
    if (!isVector(spec.mode, start.length)) throw codedError(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
    if (secret.length !== spec.keyLength) throw codedError(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    const tagLength = spec.mode === 'gcm' && options?.authTagLength !== undefined ? checkTagLength(options.authTagLength) : undefined;
    this.#cipher = begin(spec, encrypt, secret, start, tagLength);
  }
  #shown(bytes, encoding, last) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (encoding === undefined || encoding === null || encoding === 'buffer') return buffer;
    this.#decoder ??= new stringDecoder.StringDecoder(encoding);
    this.#encoding ??= encoding;
    if (encoding !== this.#encoding) throw codedError(Error, 'ERR_INTERNAL_ASSERTION', 'Cannot change encoding');
    return last ? this.#decoder.end(buffer) : this.#decoder.write(buffer);
  }
  update(data, inputEncoding, outputEncoding) {
    const bytes = bytesOf(data, inputEncoding ?? undefined);
    if (this.#state === 'ended') throw new Error('Trying to add data in unsupported state');
    this.#state = 'running';
    return this.#shown(this.#cipher.update(bytes), outputEncoding, false);
  }
  final(outputEncoding) {
    if (this.#state === 'ended') throw wrongState();
    this.#state = 'ended';
    return this.#shown(this.#cipher.final(), outputEncoding, true);
  }
  setAutoPadding(pads = true) {
    if (this.#state === 'ended') throw wrongState('setAutoPadding');
    this.#cipher.pads = Boolean(pads);
    return this;
  }
  setAAD(data, options) {
    if (!(this.#cipher instanceof Authenticated) || this.#state !== 'new') throw wrongState('setAAD');
    this.#cipher.associated.push(bytesOf(data, options?.encoding, 'aadbuf', KINDS_WITH_BUFFERS).slice());
    return this;
  }
  _transform(chunk, encoding, callback) {
    this.push(this.update(chunk));
    callback();
  }
  _flush(callback) {
    try {
      this.push(this.final());
    } catch (error) {
      callback(error);
      return;
    }
    callback();
  }
  static tagOf(cipher) {
    return cipher.#state === 'ended' && cipher.#cipher instanceof Authenticated ? cipher.#cipher.tag : undefined;
  }
  static giveTag(cipher, tag) {
    const authenticated = cipher.#cipher;
    if (!(authenticated instanceof Authenticated) || cipher.#state === 'ended' || authenticated.tag !== undefined) return false;
    if (authenticated.tagLength !== undefined && authenticated.tagLength !== tag.length) {
      throw codedError(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${tag.length}`);
    }
    checkTagLength(tag.length);
    authenticated.tag = tag;
    return true;
  }
}

export class Cipheriv extends Cipher {
  constructor(name, key, vector, options) {
    super(true, name, key, vector, options);
  }
  getAuthTag() {
    const tag = Cipher.tagOf(this);
    if (tag === undefined) throw wrongState('getAuthTag');
    return Buffer.from(tag);
  }
}
export class Decipheriv extends Cipher {
  constructor(name, key, vector, options) {
    super(false, name, key, vector, options);
  }
  setAuthTag(tag, encoding) {
    if (!Cipher.giveTag(this, bytesOf(tag, encoding, 'buffer', KINDS_WITH_BUFFERS).slice())) throw wrongState('setAuthTag');
    return this;
  }
}
export const createCipheriv = (name, key, vector, options) => new Cipheriv(name, key, vector, options);
export const createDecipheriv = (name, key, vector, options) => new Decipheriv(name, key, vector, options);
