// The package `qs` as far as the package `url` uses it; its options differ from those of Node's `querystring`.
import querystring from './querystring.js';

export const parse = (text) => querystring.parse(text);
export const stringify = (query) => querystring.stringify(query);
