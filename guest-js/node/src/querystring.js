import querystring from '../node_modules/querystring/index.js';

// What `url` asks of `qs`, too.
export const parse = (...given) => Object.assign(Object.create(null), querystring.parse(...given));
export const stringify = querystring.stringify;
export const escape = (text) =>
  encodeURIComponent(text);
export const unescape = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    const bytes = [...host.native.encodeUtf8(text)];
    for (let at = 0; at < bytes.length; at++) {
      const hex = bytes[at] === 37 ? String.fromCharCode(...bytes.slice(at + 1, at + 3)) : '';
      if (/^[\da-f]{2}$/i.test(hex)) bytes.splice(at, 3, parseInt(hex, 16));
    }
    return host.native.decodeUtf8Lossy(new Uint8Array(bytes));
  }
};
export default { parse, stringify, decode: parse, encode: stringify, escape, unescape };
