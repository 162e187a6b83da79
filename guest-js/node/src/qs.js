// The package `qs`, as the package `url` uses it: its options are not those of Node's `querystring`.
import querystring from './querystring.js';

export const parse = (text) => querystring.parse(text);
export const stringify = (query) => querystring.stringify(query);
