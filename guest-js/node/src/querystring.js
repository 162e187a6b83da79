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
    return text;
  }
};
export default { parse, stringify, decode: parse, encode: stringify, escape, unescape };
