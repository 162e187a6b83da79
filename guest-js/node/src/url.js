import legacy from '../node_modules/url/url.js';
import path from './path.js';
import { codedError, invalidType } from './util.js';

const { URL, URLSearchParams } = globalThis;

const fileURLToPath = (given) => {
  if (typeof given !== 'string' && !(given instanceof URL)) throw invalidType('path', 'string or an instance of URL', given);
  const url = new URL(given);
  if (url.protocol !== 'file:') throw codedError(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
  if (url.hostname !== '') throw codedError(TypeError, 'ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux');
  if (/%2f/i.test(url.pathname)) throw codedError(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
  return decodeURIComponent(url.pathname);
};
const pathToFileURL = (file) => {
  if (typeof file !== 'string') throw invalidType('path', 'string', file);
  const at = path.resolve(host.cwd(), file) + (file.length > 1 && file.endsWith('/') ? '/' : '');
  return new URL(`file://${encodeURI(at).replace(/[?#]/g, encodeURIComponent)}`);
};
const format = (given, options) => {
  if (!(given instanceof URL)) return legacy.format(given);
  const url = new URL(given.href);
  if (options?.fragment === false) url.hash = '';
  if (options?.search === false) url.search = '';
  if (options?.auth === false) url.username = url.password = '';
  if (!options?.unicode || url.hostname === '') return url.href;
  return url.href.replace(url.hostname, host.native.domainToUnicode(url.hostname));
};
const urlToHttpOptions = (url) => ({
  __proto__: null,
  protocol: url.protocol,
  hostname: url.hostname.replace(/^\[|\]$/g, ''),
  hash: url.hash,
  search: url.search,
  pathname: url.pathname,
  path: url.pathname + url.search,
  href: url.href,
  ...(url.port === '' ? {} : { port: Number(url.port) }),
  ...(url.username === '' && url.password === '' ? {} : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }),
});

export default {
  Url: legacy.Url,
  parse(text, ...rest) {
    if (text instanceof legacy.Url) return text;
    if (typeof text !== 'string') throw invalidType('url', 'string', text);
    return legacy.parse(text, ...rest);
  },
  resolve: legacy.resolve,
  resolveObject: legacy.resolveObject,
  format,
  URL,
  URLSearchParams,
  domainToASCII: host.native.domainToAscii,
  domainToUnicode: host.native.domainToUnicode,
  fileURLToPath,
  pathToFileURL,
  urlToHttpOptions,
};
