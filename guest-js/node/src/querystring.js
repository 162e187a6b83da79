// `querystring` of Node 20. A script may replace `escape` and `unescape`.
import { Buffer } from './buffer.js';
import { codedError } from './util.js';

const MAX_KEYS = 1000;

const digitOf = (code) => {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : NaN;
};

// Returns the bytes of a text that may contain a `%` without two digits.
const unescapeBuffer = (text, decodesSpaces) => {
  const bytes = Buffer.alloc(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const byte = code === 37 ? digitOf(text.charCodeAt(at + 1)) * 16 + digitOf(text.charCodeAt(at + 2)) : NaN;
    if (byte >= 0) {
      bytes[length++] = byte;
      at += 2;
    } else {
      bytes[length++] = code === 43 && decodesSpaces ? 32 : code;
    }
  }
  return bytes.subarray(0, length);
};

export const unescape = (text, decodesSpaces) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return querystring.unescapeBuffer(String(text), decodesSpaces).toString();
  }
};

export const escape = (value) => {
  try {
    return encodeURIComponent(typeof value === 'object' ? String(value) : `${value}`);
  } catch (error) {
    throw error instanceof URIError ? codedError(URIError, 'ERR_INVALID_URI', 'URI malformed') : error;
  }
};

const textOf = (value) => {
  if (typeof value === 'string') return value;
  const isShown = typeof value === 'bigint' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
  return isShown ? `${value}` : '';
};

export const stringify = (object, separator, equals, options) => {
  if (object === null || typeof object !== 'object') return '';
  const encode = typeof options?.encodeURIComponent === 'function' ? options.encodeURIComponent : querystring.escape;
  const pair = (key, value) => encode(textOf(key)) + (equals || '=') + encode(textOf(value));
  const pairs = Object.keys(object).flatMap((key) => (Array.isArray(object[key]) ? object[key] : [object[key]]).map((value) => pair(key, value)));
  return pairs.join(separator || '&');
};

export const parse = (text, separator, equals, options) => {
  const parsed = Object.create(null);
  if (typeof text !== 'string') return parsed;
  const own = typeof options?.decodeURIComponent === 'function' ? options.decodeURIComponent : querystring.unescape;
  // A custom decoder gets spaces in encoded form.
  const space = own === unescape ? ' ' : '%20';
  const decode = (part) => {
    if (part === '') return part;
    const encoded = part.replaceAll('+', space);
    try {
      return own(encoded);
    } catch {
      return querystring.unescape(encoded, true);
    }
  };
  const most = typeof options?.maxKeys === 'number' ? options.maxKeys : MAX_KEYS;
  const pairs = text.split(separator ? String(separator) : '&').filter((pair) => pair !== '');
  const sign = equals ? String(equals) : '=';
  for (const pair of most > 0 ? pairs.slice(0, most) : pairs) {
    const at = pair.indexOf(sign);
    const key = decode(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? '' : decode(pair.slice(at + sign.length));
    if (!(key in parsed)) parsed[key] = value;
    else if (Array.isArray(parsed[key])) parsed[key].push(value);
    else parsed[key] = [parsed[key], value];
  }
  return parsed;
};

const querystring = { unescapeBuffer, unescape, escape, stringify, encode: stringify, parse, decode: parse };
export default querystring;
