// `http` and `https`: requests through `fetch`, and therefore through the `http` tool and its grants. Servers are not
// supported.
import { Buffer } from './buffer.js';
import EventEmitter from './events.js';
import { STATUS_CODES } from './http-status.js';
import process from './process.js';
import stream from './stream.js';
import { codedError, invalidType } from './util.js';

const METHODS = [
  'ACL', 'BIND', 'CHECKOUT', 'CONNECT', 'COPY', 'DELETE', 'GET', 'HEAD', 'LINK', 'LOCK', 'M-SEARCH', 'MERGE', 'MKACTIVITY', 'MKCALENDAR', 'MKCOL',
  'MOVE', 'NOTIFY', 'OPTIONS', 'PATCH', 'POST', 'PROPFIND', 'PROPPATCH', 'PURGE', 'PUT', 'QUERY', 'REBIND', 'REPORT', 'SEARCH', 'SOURCE', 'SUBSCRIBE',
  'TRACE', 'UNBIND', 'UNLINK', 'UNLOCK', 'UNSUBSCRIBE',
];

// Headers of which a second value is ignored. Values of other headers are joined, and `set-cookie` is always a list.
const single = [
  'age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host', 'if-modified-since', 'if-unmodified-since',
  'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent',
];

// Error codes of Node for failures below HTTP, by the tool's name for the failure.
const codesOfKinds = { connection: 'ECONNREFUSED', dns: 'ENOTFOUND', timeout: 'ETIMEDOUT' };

const validateHeaderName = (name) => {
  if (typeof name !== 'string' || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw codedError(TypeError, 'ERR_INVALID_HTTP_TOKEN', `Header name must be a valid HTTP token ["${name}"]`);
  }
};
const validateHeaderValue = (name, value) => {
  if (value === undefined) throw codedError(TypeError, 'ERR_HTTP_INVALID_HEADER_VALUE', `Invalid value "${value}" for header "${name}"`);
  if (/[^\t\x20-\x7e\x80-\xff]/.test(String(value))) throw codedError(TypeError, 'ERR_INVALID_CHAR', `Invalid character in header content ["${name}"]`);
};

// Stand-in for the connection, which belongs to the host.
class Socket extends EventEmitter {
  #request;
  constructor(request, encrypted) {
    super();
    this.#request = request;
    this.encrypted = encrypted;
  }
  setTimeout(delay, callback) {
    if (callback) this.once('timeout', callback);
    this.#request.setTimeout(delay, () => this.emit('timeout'));
    return this;
  }
  setNoDelay() {
    return this;
  }
  setKeepAlive() {
    return this;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  destroy(error) {
    this.#request.destroy(error);
    return this;
  }
}

class IncomingMessage extends stream.Readable {
  constructor(record, request) {
    super();
    Object.assign(this, {
      statusCode: record.status,
      statusMessage: STATUS_CODES[record.status] ?? '',
      httpVersion: '1.1',
      httpVersionMajor: 1,
      httpVersionMinor: 1,
      complete: false,
      aborted: false,
      url: '',
      method: null,
      headers: {},
      headersDistinct: Object.create(null),
      rawHeaders: record.headers.flat(),
      trailers: {},
      rawTrailers: [],
      req: request,
      socket: request.socket,
    });
    for (const [name, value] of record.headers) this.#addHeader(name.toLowerCase(), value);
    const bytes = record.bytes ?? host.native.encodeUtf8(record.text ?? '');
    if (bytes.length > 0) this.push(Buffer.from(bytes));
    this.push(null);
    this.once('end', () => (this.complete = true));
  }
  #addHeader(name, value) {
    (this.headersDistinct[name] ??= []).push(value);
    if (name === 'set-cookie') (this.headers[name] ??= []).push(value);
    else if (!Object.hasOwn(this.headers, name)) this.headers[name] = value;
    else if (!single.includes(name)) this.headers[name] += `${name === 'cookie' ? '; ' : ', '}${value}`;
  }
  _read() {}
  setTimeout(delay, callback) {
    if (callback) this.once('timeout', callback);
    return this;
  }
  get connection() {
    return this.socket;
  }
}

const optionsOf = (url) => ({
  protocol: url.protocol,
  hostname: url.hostname.replace(/^\[|\]$/g, ''),
  path: url.pathname + url.search,
  ...(url.port === '' ? {} : { port: Number(url.port) }),
  ...(url.username === '' && url.password === '' ? {} : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }),
});

const pairsOf = (headers) => {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {});
  if (headers.every(Array.isArray)) return headers;
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : []));
};

// Returns true for a header with the value that the tool would send by itself.
const isImplied = (name, value, url, length) =>
  ['connection', 'keep-alive', 'transfer-encoding'].includes(name) ||
  (name === 'host' && value === url.host) ||
  (name === 'content-length' && Number(value) === length);

class ClientRequest extends stream.Writable {
  #headers = new Map();
  #parts = [];
  #stopping = new AbortController();
  #url;
  #timer;
  constructor(given, options, callback, standard = 'http:') {
    // A request ends with its response, and not when all data is written.
    super({ decodeStrings: false, autoDestroy: false });
    const known = typeof given === 'string' ? optionsOf(new URL(given)) : given instanceof URL ? optionsOf(given) : {};
    if (typeof options === 'function') [options, callback] = [undefined, options];
    const all = { ...known, ...(typeof given === 'string' || given instanceof URL ? {} : given), ...options };
    const protocol = all.protocol ?? standard;
    if (protocol !== standard) throw codedError(TypeError, 'ERR_INVALID_PROTOCOL', `Protocol "${protocol}" not supported. Expected "${standard}"`);
    const path = String(all.path || '/');
    if (/[^\x21-\xff]/.test(path)) throw codedError(TypeError, 'ERR_UNESCAPED_CHARACTERS', 'Request path contains unescaped characters');
    if (all.method !== undefined && typeof all.method !== 'string') throw invalidType('options.method', 'string', all.method);
    if (all.method !== undefined && !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(all.method)) {
      throw codedError(TypeError, 'ERR_INVALID_HTTP_TOKEN', `Method must be a valid HTTP token ["${all.method}"]`);
    }
    for (const key of ['hostname', 'host']) {
      if (all[key] !== undefined && all[key] !== null && typeof all[key] !== 'string') {
        throw invalidType(`options.${key}`, 'string or one of undefined or null', all[key]);
      }
    }
    const name = all.hostname || all.host || 'localhost';
    const port = all.port ?? all.defaultPort;
    this.#url = new URL(`${protocol}//${name.includes(':') ? `[${name}]` : name}${port === undefined || port === null ? '' : `:${port}`}${/^[/?]/.test(path) ? '' : '/'}${path}`);
    this.method = (all.method ?? 'GET').toUpperCase();
    Object.assign(this, { path, protocol, host: name, aborted: false, headersSent: false, reusedSocket: false, maxHeadersCount: null, res: null });
    this.agent = all.agent === undefined ? (protocol === 'https:' ? https : http).globalAgent : all.agent;
    for (const [key, value] of pairsOf(all.headers)) this.setHeader(key, value);
    if (!this.hasHeader('host')) this.setHeader('Host', this.#url.host);
    if (all.auth && !this.hasHeader('authorization')) this.setHeader('Authorization', `Basic ${Buffer.from(all.auth).toString('base64')}`);
    if (all.signal !== undefined) this.#abortWith(all.signal);
    if (callback) this.once('response', callback);
    this.socket = new Socket(this, protocol === 'https:');
    if (all.timeout !== undefined) this.setTimeout(all.timeout);
    process.nextTick(() => this.destroyed || this.emit('socket', this.socket));
  }
  #abortWith(signal) {
    const abort = () => this.destroy(Object.assign(codedError(Error, 'ABORT_ERR', 'The operation was aborted'), { name: 'AbortError', cause: signal.reason }));
    if (signal.aborted) process.nextTick(abort);
    else signal.addEventListener('abort', abort, { once: true });
  }
  get connection() {
    return this.socket;
  }
  end(chunk, encoding, callback) {
    if (typeof chunk === 'function') [chunk, callback] = [undefined, chunk];
    else if (typeof encoding === 'function') [encoding, callback] = [undefined, encoding];
    if (callback) this.once('finish', callback);
    return super.end(chunk, encoding);
  }
  get finished() {
    return this.writableEnded;
  }
  setHeader(name, value) {
    if (this.headersSent) throw codedError(Error, 'ERR_HTTP_HEADERS_SENT', 'Cannot set headers after they are sent to the client');
    validateHeaderName(name);
    validateHeaderValue(name, value);
    this.#headers.set(name.toLowerCase(), [name, value]);
    return this;
  }
  getHeader(name) {
    return this.#headers.get(name.toLowerCase())?.[1];
  }
  getHeaders() {
    return Object.assign(Object.create(null), Object.fromEntries([...this.#headers].map(([key, [, value]]) => [key, value])));
  }
  getHeaderNames() {
    return [...this.#headers.keys()];
  }
  getRawHeaderNames() {
    return [...this.#headers.values()].map(([name]) => name);
  }
  hasHeader(name) {
    return this.#headers.has(name.toLowerCase());
  }
  removeHeader(name) {
    this.#headers.delete(name.toLowerCase());
  }
  flushHeaders() {}
  setNoDelay() {}
  setSocketKeepAlive() {}
  setTimeout(delay, callback) {
    if (callback) this.once('timeout', callback);
    clearTimeout(this.#timer);
    if (delay > 0) this.#timer = setTimeout(() => this.emit('timeout'), delay).unref();
    return this;
  }
  abort() {
    if (this.aborted) return;
    this.aborted = true;
    process.nextTick(() => this.emit('abort'));
    this.destroy();
  }
  _write(chunk, encoding, callback) {
    this.#parts.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    callback();
  }
  _final(callback) {
    callback();
    this.#send();
  }
  _destroy(error, callback) {
    clearTimeout(this.#timer);
    if (this.res === null) {
      this.#stopping.abort();
      error ??= codedError(Error, 'ECONNRESET', 'socket hang up');
    }
    callback(error);
  }
  #send() {
    this.headersSent = true;
    const bytes = new Uint8Array(Buffer.concat(this.#parts));
    const headers = [...this.#headers].flatMap(([key, [, value]]) =>
      (Array.isArray(value) ? value : [value]).map((one) => [key, String(one)]).filter(([name, one]) => !isImplied(name, one, this.#url, bytes.length)),
    );
    const asked = { url: this.#url.href, method: this.method, redirect: 'manual', as: 'bytes', headers };
    if (bytes.length > 0) asked.bytes = bytes;
    host.fetch(asked, this.#stopping.signal, ClientRequest).then(
      (record) => this.destroyed || this.#answered(record),
      (error) => this.destroyed || this.destroy(this.#failed(error)),
    );
  }
  #failed(error) {
    const code = codesOfKinds[error?.payload?.kind];
    if (error?.kind !== 'tool' || code === undefined) return error;
    return host.causedBy(Object.assign(codedError(Error, code, error.message), { hostname: this.#url.hostname }), error);
  }
  #answered(record) {
    clearTimeout(this.#timer);
    const response = new IncomingMessage(record, this);
    this.res = response;
    response.once('close', () => this.destroy());
    if (!this.emit('response', response)) response.resume();
  }
}

class Agent extends EventEmitter {
  constructor(options = {}) {
    super();
    Object.assign(this, {
      options: { ...options, path: null },
      requests: {},
      sockets: {},
      freeSockets: {},
      keepAlive: options.keepAlive ?? false,
      maxSockets: options.maxSockets ?? Infinity,
      maxFreeSockets: options.maxFreeSockets ?? 256,
    });
  }
  destroy() {}
}

const noServer = (name, path) =>
  ({
    [name]: function () {
      throw codedError(
        Error,
        'ERR_FEATURE_UNAVAILABLE',
        `${path}.${name} is not available in Tollhouse: nobody can connect to a script. Call the handler itself, or use \`fetch\` to reach a server`,
      );
    },
  })[name];

const moduleOf = (name, protocol) => {
  const request = (url, options, callback) => new ClientRequest(url, options, callback, protocol);
  return {
    METHODS,
    STATUS_CODES,
    Agent,
    ClientRequest,
    IncomingMessage,
    Server: noServer('Server', name),
    ServerResponse: noServer('ServerResponse', name),
    createServer: noServer('createServer', name),
    validateHeaderName,
    validateHeaderValue,
    request,
    get(url, options, callback) {
      const made = request(url, options, callback);
      made.end();
      return made;
    },
    maxHeaderSize: 16384,
    globalAgent: new Agent({ keepAlive: true }),
  };
};

const http = moduleOf('http', 'http:');
const all = moduleOf('https', 'https:');
const https = Object.fromEntries(['Agent', 'globalAgent', 'Server', 'createServer', 'get', 'request'].map((name) => [name, all[name]]));

export { http, https };
