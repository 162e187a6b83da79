// Text and bytes: `TextEncoder`, `TextDecoder`, `btoa`, `atob`.

const fromCharCodes = (bytes, from, to) => apply(String.fromCharCode, undefined, subarray(bytes, from, to));

const toLatin1 = (bytes) => {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += fromCharCodes(bytes, at, min(at + 8192, bytes.length));
  return text;
};

// Returns the bytes of a text whose characters are all below 256; undefined for any other text.
const fromLatin1 = (text) => {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit > 255) return undefined;
    bytes[i] = unit;
  }
  return bytes;
};

const hexDigits = '0123456789abcdef';
const toHex = (bytes) => {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += hexDigits[bytes[i] >> 4] + hexDigits[bytes[i] & 15];
  return text;
};
const fromHex = (text) => {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = indexOf(hexDigits, toLowerCase(text[2 * i]));
    const low = indexOf(hexDigits, toLowerCase(text[2 * i + 1]));
    if (high < 0 || low < 0) return undefined;
    bytes[i] = high * 16 + low;
  }
  return bytes;
};

const characterError = (message) => new DOMException(message, 'InvalidCharacterError');

class TextEncoder {
  get encoding() {
    return 'utf-8';
  }
  [customInspect](depth, options) {
    return inspect({ encoding: 'utf-8' }, options);
  }
  encode(text = '') {
    // A symbol throws here, and in `encodeInto`.
    return native.encodeUtf8(`${text}`);
  }
  encodeInto(text, target) {
    if (typedArrayTag(target) !== 'Uint8Array') {
      throw nodeError(new TypeError('The "dest" argument must be an instance of Uint8Array.' + received(target)), 'ERR_INVALID_ARG_TYPE');
    }
    let source = `${text}`;
    let bytes = native.encodeUtf8(source);
    const room = typedArrayLength(target);
    if (bytes.length > room) {
      // Stops before a character that does not fit.
      let length = room;
      while (length > 0 && (bytes[length] & 0xc0) === 0x80) length--;
      bytes = subarray(bytes, 0, length);
      source = native.decodeUtf8Lossy(bytes);
    }
    typedArraySet(target, bytes, 0);
    return { read: source.length, written: typedArrayLength(bytes) };
  }
}

// Returns the number of bytes at the end that begin an incomplete character.
const unfinishedUtf8 = (bytes) => {
  const length = typedArrayLength(bytes);
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return byte < 0xf8 && needs > back ? back : 0;
  }
  return 0;
};

// Encodings whose texts may begin with a byte order mark.
const markedEncodings = ['utf-8', 'utf-16le', 'utf-16be'];

class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBom;
  // Bytes of an incomplete character of UTF-8.
  #rest = new Uint8Array(0);
  // Native decoder of a text in another encoding, of which more parts may come.
  #decoding;
  #begun = false;
  constructor(label = 'utf-8', options = {}) {
    const given = String(label);
    if (options !== null && typeof options !== 'object') throw nodeError(new TypeError('The "options" argument must be of type object.' + received(options)), 'ERR_INVALID_ARG_TYPE');
    const found = native.encodingOf(given);
    if (!found?.isSupported)
      throw nodeError(
        new RangeError('The "' + (found?.name ?? given) + '" encoding is not supported'),
        'ERR_ENCODING_NOT_SUPPORTED',
      );
    this.#encoding = found.name;
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBom = Boolean(options?.ignoreBOM);
  }
  get encoding() {
    return this.#encoding;
  }
  get fatal() {
    return this.#fatal;
  }
  [customInspect](depth, options) {
    return 'TextDecoder ' + inspect({ encoding: this.#encoding, fatal: this.#fatal, ignoreBOM: this.#ignoreBom }, options);
  }
  get ignoreBOM() {
    return this.#ignoreBom;
  }
  decode(input, options) {
    const bytes = input === undefined ? new Uint8Array(0) : asBytes(input);
    if (bytes === undefined)
      throw nodeError(
        new TypeError('The "' + (this.#encoding === 'utf-8' ? 'list' : 'input') + '" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.'),
        'ERR_INVALID_ARG_TYPE',
      );
    const isLast = options?.stream !== true;
    let text = this.#encoding === 'utf-8' ? this.#utf8(bytes, isLast) : this.#other(bytes, isLast);
    if (text == null) {
      this.#begun = false;
      throw nodeError(new TypeError('The encoded data was not valid for encoding ' + this.#encoding), 'ERR_ENCODING_INVALID_ENCODED_DATA');
    }
    if (!this.#begun && !this.#ignoreBom && text[0] === '\ufeff' && contains(markedEncodings, this.#encoding))
      text = substring(text, 1);
    this.#begun = !isLast && (this.#begun || text !== '');
    return text;
  }
  // Returns null if the bytes are invalid and that is an error.
  #utf8(given, isLast) {
    const kept = typedArrayLength(this.#rest);
    let bytes = kept === 0 ? given : joinBytes([this.#rest, given], kept + typedArrayLength(given));
    const keep = isLast ? 0 : unfinishedUtf8(bytes);
    this.#rest = joinBytes([subarray(bytes, bytes.length - keep)], keep);
    bytes = subarray(bytes, 0, bytes.length - keep);
    return this.#fatal ? native.decodeUtf8(bytes) : native.decodeUtf8Lossy(bytes);
  }
  #other(bytes, isLast) {
    const decoding = this.#decoding ?? native.newDecoding(this.#encoding);
    const text = native.decodePart(decoding, bytes, isLast, this.#fatal);
    this.#decoding = isLast || text == null ? undefined : decoding;
    return text;
  }
}

const base64Functions = {
  btoa(text) {
    if (arguments.length === 0) throw nodeError(new TypeError('The "input" argument must be specified'), 'ERR_MISSING_ARGS');
    const bytes = fromLatin1(String(text));
    if (bytes === undefined) {
      throw characterError('Invalid character');
    }
    return native.encodeBase64(bytes);
  },
  atob(text) {
    if (arguments.length === 0) throw nodeError(new TypeError('The "input" argument must be specified'), 'ERR_MISSING_ARGS');
    let plain = '';
    let padding = 0;
    const given = String(text);
    for (let i = 0; i < given.length; i++) {
      if (contains(['\t', '\n', '\f', '\r', ' '], given[i])) continue;
      if (given[i] === '=') padding++;
      else if (padding > 0) throw characterError('Invalid character');
      else plain += given[i];
    }
    if (!regExpTest(/^[A-Za-z0-9+/]*$/, plain)) throw characterError('Invalid character');
    const rest = plain.length % 4;
    if (rest === 1) throw characterError('The string to be decoded is not correctly encoded.');
    const missing = rest === 0 ? 0 : 4 - rest;
    if (padding !== 0 && padding !== missing) throw characterError('Invalid character');
    // The unused last bits may have any value (Infra Standard, forgiving-base64 decode).
    const bytes = native.decodeBase64(plain + substring('AA', 0, missing));
    return toLatin1(subarray(bytes, 0, typedArrayLength(bytes) - missing));
  },
};

defineGlobal('TextEncoder', TextEncoder);
defineGlobal('TextDecoder', TextDecoder);
for (const name in base64Functions) defineGlobal(name, base64Functions[name]);
