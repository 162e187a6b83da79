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
    return native.encodeUtf8(String(text));
  }
  encodeInto(text, target) {
    let source = String(text);
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

const decoderLabels = {
  __proto__: null,
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'unicode-1-1-utf-8': 'utf-8',
  latin1: 'windows-1252',
  ascii: 'windows-1252',
  'us-ascii': 'windows-1252',
  'iso-8859-1': 'windows-1252',
  'windows-1252': 'windows-1252',
  'utf-16le': 'utf-16le',
  'utf-16': 'utf-16le',
};

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

// Characters 0x80 to 0x9F of Windows-1252, where it differs from Latin-1.
const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBom;
  #rest = new Uint8Array(0);
  #begun = false;
  constructor(label = 'utf-8', options = {}) {
    this.#encoding = decoderLabels[toLowerCase(trim(String(label)))];
    if (this.#encoding === undefined)
      throw nodeError(
        new RangeError('TextDecoder knows utf-8, utf-16le and latin1; got ' + inspect(label)),
        'ERR_ENCODING_NOT_SUPPORTED',
      );
    this.#fatal = options?.fatal === true;
    this.#ignoreBom = options?.ignoreBOM === true;
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
    const given = input === undefined ? new Uint8Array(0) : asBytes(input);
    if (given === undefined) throw new TypeError('TextDecoder.decode takes bytes, got ' + kindOf(input));
    let bytes =
      typedArrayLength(this.#rest) === 0
        ? given
        : joinBytes([this.#rest, given], typedArrayLength(this.#rest) + typedArrayLength(given));
    this.#rest = new Uint8Array(0);
    if (options?.stream === true) {
      const keep =
        this.#encoding === 'utf-8' ? unfinishedUtf8(bytes) : this.#encoding === 'utf-16le' ? bytes.length % 2 : 0;
      this.#rest = joinBytes([subarray(bytes, bytes.length - keep)], keep);
      bytes = subarray(bytes, 0, bytes.length - keep);
    }
    let text = this.#text(bytes);
    if (!this.#begun && !this.#ignoreBom && text[0] === '\ufeff' && this.#encoding !== 'windows-1252')
      text = substring(text, 1);
    this.#begun = options?.stream === true && (this.#begun || text !== '');
    return text;
  }
  #text(bytes) {
    if (this.#encoding === 'utf-8') {
      if (!this.#fatal) return native.decodeUtf8Lossy(bytes);
      const text = native.decodeUtf8(bytes);
      if (text == null) throw defineCode(new TypeError('The encoded data was not valid for encoding utf-8'), 'ERR_ENCODING_INVALID_ENCODED_DATA');
      return text;
    }
    let text = '';
    if (this.#encoding === 'utf-16le') {
      for (let i = 0; i + 1 < bytes.length; i += 2)
        text += apply(String.fromCharCode, undefined, [bytes[i] | (bytes[i + 1] << 8)]);
      return bytes.length % 2 === 0 ? text : text + '\ufffd';
    }
    for (let i = 0; i < bytes.length; i++) {
      text +=
        bytes[i] >= 0x80 && bytes[i] < 0xa0
          ? windows1252[bytes[i] - 0x80]
          : apply(String.fromCharCode, undefined, [bytes[i]]);
    }
    return text;
  }
}

const base64Functions = {
  btoa(text) {
    const bytes = fromLatin1(String(text));
    if (bytes === undefined) {
      throw characterError(
        'btoa takes characters up to U+00FF; for text use btoa(String.fromCharCode(...new TextEncoder().encode(text)))',
      );
    }
    return native.encodeBase64(bytes);
  },
  atob(text) {
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
