// `Blob`, `FormData`, `fetch` and its classes, and the streams of their bodies.
import { newBoundary, readForm, writeForm } from './form-data.js';
import { STATUS_CODES } from './http-status.js';
import { codedError, invalidType } from './util.js';
import { ReadableStream } from './webstreams.js';

const { native, asBytes, fetch: fetchThroughTool, makeCopyable, signalOf, inspect } = host;
const custom = Symbol.for('nodejs.util.inspect.custom');

const joined = (parts) => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};
const encode = (text) => native.encodeUtf8(text);
const decode = (bytes) => {
  const text = native.decodeUtf8Lossy(bytes);
  return text[0] === '\ufeff' ? text.slice(1) : text;
};
const streamOf = (bytes, pieces = [bytes]) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) if (piece.length > 0) controller.enqueue(piece);
      controller.close();
    },
  });

export class Blob {
  #bytes;
  // Lengths of the parts, which its stream gives one by one.
  #pieces;
  #type;
  constructor(parts = [], options = {}) {
    if (options !== null && typeof options !== 'object' && typeof options !== 'function') throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "options" argument must be a dictionary.${host.received(options)}`);
    if (parts === null || typeof parts !== 'object' || typeof parts[Symbol.iterator] !== 'function') {
      throw invalidType('sources', 'a sequence', parts);
    }
    const pieces = [];
    for (const part of parts) {
      if (part instanceof Blob) pieces.push(part.#bytes);
      else if (typeof part === 'object' && part !== null && asBytes(part) !== undefined) pieces.push(asBytes(part).slice());
      else pieces.push(encode(String(part)));
    }
    this.#bytes = joined(pieces);
    this.#pieces = pieces.map((piece) => piece.length);
    this.#type = /[^\u0020-\u007e]/.test(options?.type ?? '') ? '' : String(options?.type ?? '').toLowerCase();
    makeCopyable(this, () => new Blob([this], { type: this.#type }));
  }
  get size() {
    return this.#bytes.length;
  }
  get type() {
    return this.#type;
  }
  async arrayBuffer() {
    return this.#bytes.slice().buffer;
  }
  async bytes() {
    return this.#bytes.slice();
  }
  async text() {
    return native.decodeUtf8Lossy(this.#bytes);
  }
  stream() {
    let at = 0;
    return streamOf(undefined, this.#pieces.map((length) => this.#bytes.slice(at, (at += length))));
  }
  slice(start = 0, end = this.size, type = '') {
    const from = start < 0 ? Math.max(this.size + start, 0) : Math.min(start, this.size);
    const to = end < 0 ? Math.max(this.size + end, 0) : Math.min(end, this.size);
    return new Blob([this.#bytes.subarray(from, Math.max(from, to))], { type });
  }
  [custom](depth, options) {
    return `Blob ${inspect({ size: this.size, type: this.type }, options)}`;
  }
}
Object.defineProperty(Blob.prototype, Symbol.toStringTag, { value: 'Blob', configurable: true });

export class File extends Blob {
  #name;
  #modified;
  constructor(parts, name, options = {}) {
    if (arguments.length < 2) throw codedError(TypeError, 'ERR_MISSING_ARGS', 'The "fileBits" and "fileName" arguments must be specified');
    super(parts, options);
    this.#name = String(name);
    this.#modified = options.lastModified ?? Date.now();
    makeCopyable(this, () => new File([this], this.#name, { type: this.type, lastModified: this.#modified }));
  }
  get name() {
    return this.#name;
  }
  get lastModified() {
    return this.#modified;
  }
  [custom](depth, options) {
    return `File ${inspect({ size: this.size, type: this.type, name: this.#name, lastModified: this.#modified }, options)}`;
  }
}
Object.defineProperty(File.prototype, Symbol.toStringTag, { value: 'File', configurable: true });

export class FormData {
  #entries = [];
  constructor(form) {
    if (form !== undefined) throw new TypeError('FormData constructor: Argument 1 could not be converted to: undefined.');
  }
  #value(value, name) {
    if (!(value instanceof Blob)) return String(value);
    return value instanceof File && name === undefined ? value : new File([value], name ?? value.name ?? 'blob', { type: value.type });
  }
  append(key, value, name) {
    if (arguments.length < 2) throw new TypeError(`FormData.append: 2 arguments required, but only ${arguments.length} found.`);
    this.#entries.push([String(key), this.#value(value, name)]);
  }
  set(key, value, name) {
    if (arguments.length < 2) throw new TypeError(`FormData.set: 2 arguments required, but only ${arguments.length} found.`);
    const at = this.#entries.findIndex(([known]) => known === String(key));
    if (at < 0) return this.append(key, value, name);
    this.#entries = this.#entries.filter(([known], index) => index === at || known !== String(key));
    this.#entries[at][1] = this.#value(value, name);
    return undefined;
  }
  delete(key) {
    this.#entries = this.#entries.filter(([known]) => known !== String(key));
  }
  get(key) {
    return this.#entries.find(([known]) => known === String(key))?.[1] ?? null;
  }
  getAll(key) {
    return this.#entries.filter(([known]) => known === String(key)).map(([, value]) => value);
  }
  has(key) {
    return this.#entries.some(([known]) => known === String(key));
  }
  forEach(callback, self) {
    for (const [key, value] of this.#entries) callback.call(self, value, key, this);
  }
  *entries() {
    for (const [key, value] of this.#entries) yield [key, value];
  }
  *keys() {
    for (const [key] of this.#entries) yield key;
  }
  *values() {
    for (const [, value] of this.#entries) yield value;
  }
  [custom](depth, options) {
    const shown = {};
    for (const [key, value] of this.#entries) shown[key] = !Object.hasOwn(shown, key) ? value : Array.isArray(shown[key]) ? [...shown[key], value] : [shown[key], value];
    return `FormData ${inspect(shown, options)}`;
  }
}
FormData.prototype[Symbol.iterator] = FormData.prototype.entries;
Object.defineProperty(FormData.prototype, Symbol.iterator, { enumerable: false });

// Returns a text whose characters are bytes.
const toByteString = (value) => {
  const text = String(value);
  const at = text.search(/[^\u0000-\u00ff]/);
  if (at < 0) return text;
  throw new TypeError(
    `Cannot convert argument to a ByteString because the character at index ${at} has a value of ${text.charCodeAt(at)} which is greater than 255.`,
  );
};
const checkName = (name, method = 'get') => {
  const text = toByteString(name);
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`Headers.${method}: "${text}" is an invalid header name.`);
  return text.toLowerCase();
};
const checkValue = (value, method) => {
  const text = toByteString(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  if (/[\0\r\n]/.test(text)) throw new TypeError(`Headers.${method}: "${text}" is an invalid header value.`);
  return text;
};

const checkCount = ({ length }, count, method) => {
  if (length < count) throw new TypeError(`${method}: ${count} argument${count === 1 ? '' : 's'} required, but${length > 0 ? ' only' : ''} ${length} found.`);
};

export class Headers {
  #list = [];
  constructor(init) {
    if (init === undefined) return;
    if (typeof init !== 'object' || init === null) {
      throw new TypeError('Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.');
    }
    const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
    let at = 0;
    for (const given of pairs) {
      if (typeof given !== 'object' || typeof given?.[Symbol.iterator] !== 'function') {
        // The misspelling is that of undici.
        throw new TypeError(`Headers contructor: init[${at}] (${typeof given === 'string' ? `"${given}"` : inspect(given)}) is not iterable.`);
      }
      const pair = [...given];
      if (pair.length !== 2) throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${pair.length}.`);
      this.append(...pair);
      at++;
    }
  }
  append(name, value) {
    checkCount(arguments, 2, 'Headers.append');
    this.#list.push([checkName(name, 'append'), checkValue(value, 'append'), String(name)]);
  }
  delete(name) {
    checkCount(arguments, 1, 'Headers.delete');
    const key = checkName(name, 'delete');
    this.#list = this.#list.filter(([known]) => known !== key);
  }
  get(name) {
    checkCount(arguments, 1, 'Headers.get');
    const key = checkName(name);
    const values = this.#list.filter(([known]) => known === key).map(([, value]) => value);
    return values.length === 0 ? null : values.join(', ');
  }
  has(name) {
    checkCount(arguments, 1, 'Headers.has');
    const key = checkName(name, 'has');
    return this.#list.some(([known]) => known === key);
  }
  set(name, value) {
    checkCount(arguments, 2, 'Headers.set');
    const key = checkName(name, 'set');
    const at = this.#list.findIndex(([known]) => known === key);
    const entry = [key, checkValue(value, 'set'), String(name)];
    this.#list = this.#list.filter(([known], index) => index === at || known !== key);
    if (at < 0) this.#list.push(entry);
    else this.#list[at] = entry;
    return undefined;
  }
  getSetCookie() {
    return this.#list.filter(([known]) => known === 'set-cookie').map(([, value]) => value);
  }
  *entries() {
    const names = [...new Set(this.#list.map(([name]) => name))].sort();
    for (const name of names) {
      if (name === 'set-cookie') for (const cookie of this.getSetCookie()) yield [name, cookie];
      else yield [name, this.get(name)];
    }
  }
  *keys() {
    for (const [name] of this.entries()) yield name;
  }
  *values() {
    for (const [, value] of this.entries()) yield value;
  }
  forEach(callback, self) {
    for (const [name, value] of this.entries()) callback.call(self, value, name, this);
  }
  [custom](depth, options) {
    const first = (key) => this.#list.find(([known]) => known === key)[2];
    const names = [...new Set(this.#list.map(([key]) => key))];
    return `Headers ${inspect(Object.fromEntries(names.map((key) => [first(key), this.get(key)])), options)}`;
  }
}
Object.defineProperty(Headers.prototype, Symbol.iterator, { value: Headers.prototype.entries, writable: true, configurable: true });
Object.defineProperty(Headers.prototype, Symbol.toStringTag, { value: 'Headers', configurable: true });

// Returns the type of a body, and a function that returns its bytes.
const readBody = (body) => {
  if (body == null) return { read: undefined };
  if (typeof body === 'string') return { type: 'text/plain;charset=UTF-8', read: async () => encode(body) };
  if (body instanceof URLSearchParams) {
    return { type: 'application/x-www-form-urlencoded;charset=UTF-8', read: async () => encode(body.toString()) };
  }
  if (body instanceof Blob) return { type: body.type || undefined, read: () => body.bytes() };
  if (body instanceof FormData) {
    const boundary = newBoundary();
    // Encoded at once, so that later changes of the form have no effect.
    const made = writeForm(body, boundary).then(joined);
    return { type: `multipart/form-data; boundary=${boundary}`, read: () => made };
  }
  if (body instanceof ReadableStream) return { stream: body, read: () => readStream(body) };
  const bytes = typeof body === 'object' ? asBytes(body) : undefined;
  if (bytes !== undefined) {
    const copy = bytes.slice();
    return { read: async () => copy };
  }
  return { type: 'text/plain;charset=UTF-8', read: async () => encode(String(body)) };
};
const readStream = async (stream) => {
  const parts = [];
  const reader = stream.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return joined(parts);
    parts.push(typeof value === 'string' ? encode(value) : asBytes(value));
  }
};

class Body {
  #body;
  #used = false;
  #stream;
  constructor(body) {
    this.#body = body;
  }
  static of(body) {
    return body.#body;
  }
  get body() {
    if (this.#body.read === undefined) return null;
    this.#stream ??=
      this.#body.stream ??
      new ReadableStream({
        pull: async (controller) => {
          this.#used = true;
          const bytes = await this.#body.read();
          if (bytes.length > 0) controller.enqueue(bytes);
          controller.close();
        },
      }, { highWaterMark: 0 });
    return this.#stream;
  }
  get bodyUsed() {
    return this.#used;
  }
  async #take() {
    if (this.#used || this.#stream?.locked) throw new TypeError('Body is unusable: Body has already been read');
    if (this.#body.read === undefined) return new Uint8Array(0);
    this.#used = true;
    return this.#body.read();
  }
  async text() {
    return decode(await this.#take());
  }
  async json() {
    return JSON.parse(decode(await this.#take()));
  }
  async arrayBuffer() {
    return (await this.#take()).slice().buffer;
  }
  async bytes() {
    return (await this.#take()).slice();
  }
  async blob() {
    return new Blob([await this.#take()], { type: this.headers.get('content-type') ?? '' });
  }
  async formData() {
    const type = this.headers.get('content-type') ?? '';
    const form = new FormData();
    if (/^multipart\/form-data\b/i.test(type)) return readForm(await this.#take(), type, form);
    if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
      throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
    }
    for (const [name, value] of new URLSearchParams(decode(await this.#take()))) form.append(name, value);
    return form;
  }
  copyBody() {
    if (this.#used || this.#stream?.locked) throw new TypeError('Response.clone: Body has already been consumed.');
    if (this.#body.stream !== undefined) {
      const [first, second] = this.#body.stream.tee();
      this.#body = readBody(first);
      this.#stream = undefined;
      return readBody(second);
    }
    return this.#body;
  }
}
const { of: bodyOf } = Body;
const { copyBody } = Body.prototype;
delete Body.of;
delete Body.prototype.copyBody;


const parsedUrl = (input) => {
  try {
    return new URL(input).href;
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${input}`, { cause });
  }
};

export class Response extends Body {
  #fields;
  constructor(body = null, init = {}) {
    const status = init.status === undefined ? 200 : Number(init.status);
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    }
    const content = readBody(body);
    if (body != null && [204, 205, 304].includes(status)) throw new TypeError(`Response constructor: Invalid response status code ${status}`);
    super(content);
    this.#fields = { status, statusText: init.statusText ?? '', headers: new Headers(init.headers), url: '', redirected: false, type: 'default' };
    if (content.type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', content.type);
  }
  static make(record, bytes) {
    const response = new Response([204, 205, 304].includes(record.status) ? null : bytes);
    response.#fields = {
      status: record.status,
      statusText: STATUS_CODES[record.status] ?? '',
      headers: new Headers(record.headers),
      url: record.url,
      redirected: record.redirected,
      type: 'basic',
    };
    return response;
  }
  get status() {
    return this.#fields.status;
  }
  get ok() {
    return this.#fields.status >= 200 && this.#fields.status <= 299;
  }
  get statusText() {
    return this.#fields.statusText;
  }
  get headers() {
    return this.#fields?.headers;
  }
  get url() {
    return this.#fields.url;
  }
  get redirected() {
    return this.#fields.redirected;
  }
  get type() {
    return this.#fields.type;
  }
  clone() {
    const body = copyBody.call(this);
    const made = new Response(body.read === undefined ? null : new ReadableStream({
      pull: async (controller) => {
        const bytes = await body.read();
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      },
    }, { highWaterMark: 0 }));
    made.#fields = { ...this.#fields, headers: new Headers(this.headers) };
    return made;
  }
  static json(data, init = {}) {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError('Value is not JSON serializable');
    const response = new Response(text, init);
    if (!new Headers(init.headers).has('content-type')) response.headers.set('content-type', 'application/json');
    return response;
  }
  static error() {
    const response = new Response();
    response.#fields = { ...response.#fields, status: 0, type: 'error' };
    return response;
  }
  static redirect(url, status = 302) {
    if (![301, 302, 303, 307, 308].includes(Number(status))) throw new RangeError(`Invalid status code ${status}`);
    const response = new Response(null, { headers: { location: parsedUrl(url) } });
    response.#fields.status = status;
    return response;
  }
  [custom](depth, options) {
    const { status, statusText, headers, type, ok, redirected, url } = this;
    return `Response ${inspect({ status, statusText, headers, body: this.body, bodyUsed: this.bodyUsed, ok, redirected, type, url }, options)}`;
  }
}
const { make: makeResponse } = Response;
delete Response.make;


const withoutCredentials = (url, input) => {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return url;
  throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`);
};

// Fields of a request that are kept as they are given. Only `redirect` has an effect here.
const REQUEST_FIELDS = { redirect: 'follow', cache: 'default', mode: 'cors', credentials: 'same-origin', referrer: 'about:client', referrerPolicy: '', integrity: '', keepalive: false, duplex: 'half' };

export class Request extends Body {
  #fields;
  static fieldOf(request, name) {
    return request.#fields[name];
  }
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : undefined;
    const url = from === undefined ? withoutCredentials(parsedUrl(String(input)), input) : from.url;
    const method = String(init.method ?? from?.method ?? 'GET');
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method) ) throw new TypeError(`'${method}' is not a valid HTTP method.`);
    if (/^(connect|trace|track)$/i.test(method)) throw new TypeError(`'${method}' HTTP method is unsupported.`);
    const plain = /^(get|head|post|put|delete|options|patch)$/i.test(method) ? method.toUpperCase() : method;
    if (init.body != null && (plain === 'GET' || plain === 'HEAD')) {
      throw new TypeError('Request with GET/HEAD method cannot have body.');
    }
    const content = init.body !== undefined ? readBody(init.body) : from === undefined ? readBody(null) : copyBody.call(from);
    super(content);
    const headers = new Headers(init.headers ?? from?.headers);
    const signal = signalOf(init) ?? from?.signal ?? new AbortController().signal;
    this.#fields = { url, method: plain, headers, signal };
    for (const [name, standard] of Object.entries(REQUEST_FIELDS)) this.#fields[name] = init[name] ?? from?.[name] ?? standard;
    if (content.type !== undefined && !headers.has('content-type')) headers.set('content-type', content.type);
  }
  get url() {
    return this.#fields.url;
  }
  get method() {
    return this.#fields.method;
  }
  get headers() {
    return this.#fields.headers;
  }
  get signal() {
    return this.#fields.signal;
  }
  clone() {
    return new Request(this);
  }
}

const { fieldOf } = Request;
delete Request.fieldOf;
for (const name of Object.keys(REQUEST_FIELDS)) {
  Object.defineProperty(Request.prototype, name, { get() { return fieldOf(this, name); }, configurable: true });
}

// URLs of blobs, which hold for this script.
const { objectUrls } = host;
URL.createObjectURL = (blob) => {
  if (!(blob instanceof Blob)) throw invalidType('obj', 'an instance of Blob', blob);
  const url = `blob:nodedata:${crypto.randomUUID()}`;
  objectUrls.set(url, blob);
  return url;
};
URL.revokeObjectURL = (url) => void objectUrls.delete(`${url}`);
const blobUrl = async (url) => {
  const blob = objectUrls.get(url);
  if (blob === undefined) throw new TypeError('fetch failed', { cause: new Error('invalid blob url') });
  const headers = [['content-length', `${blob.size}`], ['content-type', blob.type]];
  return makeResponse({ status: 200, headers, url, redirected: false }, await blob.bytes());
};

const dataUrl = (url) => {
  const match = /^data:([^,]*?)(;\s*base64)?,(.*)$/s.exec(url);
  if (match === null) throw new TypeError('fetch failed');
  const data = decodeURIComponent(match[3]);
  const bytes = match[2] ? native.decodeBase64(data.replace(/\s/g, '')) : encode(data);
  return makeResponse({ status: 200, headers: [['content-type', match[1] || 'text/plain;charset=US-ASCII']], url, redirected: false }, bytes);
};

export const fetch = {
  async fetch(input, init) {
    const request = new Request(input, init);
    const { url, method, headers, signal, redirect } = request;
    signal.throwIfAborted();
    if (url.startsWith('data:')) return dataUrl(url);
    if (url.startsWith('blob:')) return blobUrl(url);
    if (!/^https?:/.test(url)) throw new TypeError('fetch failed', { cause: new Error(url.startsWith('file:') ? 'not implemented... yet...' : 'unknown scheme') });
    const body = bodyOf(request);
    const asked = { url, method, redirect, as: 'bytes' };
    if (body.read !== undefined) asked.bytes = await body.read();
    const list = [...headers.entries()];
    if (list.length > 0) asked.headers = list;
    let record;
    try {
      record = await fetchThroughTool(asked, signal, fetch);
    } catch (error) {
      if (error?.kind !== 'tool') throw error;
      throw host.causedBy(new TypeError(`fetch failed: ${error.message}`), error);
    }
    return makeResponse(record, record.bytes ?? encode(record.text ?? ''));
  },
}.fetch;
