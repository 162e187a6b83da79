// `URL` and `URLSearchParams`, by the standard of the WHATWG.

// Converts a value to text as the standard requires; only `String` accepts a symbol.
const toUsv = (value) => {
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
  return String(value);
};

const formDecode = (text) => {
  const plain = join(split(text, '+'), ' ');
  const bytes = native.encodeUtf8(plain);
  const decoded = new Uint8Array(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const pair =
      bytes[i] === 0x25 && i + 2 < bytes.length ? fromHex(toLatin1(subarray(bytes, i + 1, i + 3))) : undefined;
    decoded[length++] = pair === undefined ? bytes[i] : pair[0];
    if (pair !== undefined) i += 2;
  }
  return native.decodeUtf8Lossy(subarray(decoded, 0, length));
};

const formSafe = /^[A-Za-z0-9*\-._]$/;
const formEncode = (text) => {
  const bytes = native.encodeUtf8(text);
  let encoded = '';
  for (let i = 0; i < bytes.length; i++) {
    const character = toLatin1(subarray(bytes, i, i + 1));
    if (character === ' ') encoded += '+';
    else if (regExpTest(formSafe, character)) encoded += character;
    else encoded += '%' + upperCase(toHex(subarray(bytes, i, i + 1)));
  }
  return encoded;
};

const parseForm = (text, pairs) => {
  const parts = split(startsWith(text, '?') ? substring(text, 1) : text, '&');
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === '') continue;
    const at = indexOf(parts[i], '=');
    const name = at < 0 ? parts[i] : substring(parts[i], 0, at);
    push(pairs, [formDecode(name), at < 0 ? '' : formDecode(substring(parts[i], at + 1))]);
  }
};

// Iterators of `URLSearchParams`. They see changes that are made meanwhile.
const paramsIterators = new WeakMap();
const paramsIteratorPrototype = {
  __proto__: getPrototypeOf(getPrototypeOf([][symbolIterator]())),
  next() {
    const state = weakGet(paramsIterators, this);
    if (state === undefined) throw nodeError(new TypeError('Value of "this" must be of type URLSearchParamsIterator'), 'ERR_INVALID_THIS');
    const pairs = state.pairsOf();
    if (state.at >= pairs.length) return { value: undefined, done: true };
    return { value: state.take(pairs[state.at++]), done: false };
  },
  [customInspect](depth, options) {
    const { pairsOf, take, at } = weakGet(paramsIterators, this);
    const pairs = pairsOf();
    const shown = [];
    const left = [];
    for (let i = at; i < pairs.length; i++) {
      push(left, take(pairs[i]));
      push(shown, inspect(take(pairs[i]), options));
    }
    const onLines = includes(inspect(left, options), '\n');
    return 'URLSearchParams Iterator {' + (onLines ? '\n  ' : ' ') + join(shown, onLines ? ',\n  ' : ', ') + ' }';
  },
};
defineProperty(paramsIteratorPrototype, symbolToStringTag, { __proto__: null, value: 'URLSearchParams Iterator', configurable: true });
const makeParamsIterator = (pairsOf, take) => {
  const iterator = { __proto__: paramsIteratorPrototype };
  weakSet(paramsIterators, iterator, { __proto__: null, pairsOf, take, at: 0 });
  return iterator;
};

const missingName = () => nodeError(new TypeError('The "name" argument must be specified'), 'ERR_MISSING_ARGS');
const missingPair = () => nodeError(new TypeError('The "name" and "value" arguments must be specified'), 'ERR_MISSING_ARGS');

class URLSearchParams {
  #pairs = [];
  // Notifies the URL whose query this is of a change.
  #changed = () => {};
  static attach(pairs, changed) {
    const params = new URLSearchParams();
    params.#pairs = pairs;
    params.#changed = changed;
    return params;
  }
  static reload(params, pairs) {
    params.#pairs = pairs;
  }
  constructor(init = '') {
    if (init === null) return;
    if (!isObject(init)) {
      parseForm(toUsv(init), this.#pairs);
    } else if (typeof init[symbolIterator] === 'function') {
      for (const given of init) {
        const pair = isObject(given) && typeof given[symbolIterator] === 'function' ? [...given] : [];
        if (pair.length !== 2) {
          throw nodeError(new TypeError('Each query pair must be an iterable [name, value] tuple'), 'ERR_INVALID_TUPLE');
        }
        push(this.#pairs, [toUsv(pair[0]), toUsv(pair[1])]);
      }
    } else {
      const keys = objectKeys(init);
      for (let i = 0; i < keys.length; i++) push(this.#pairs, [keys[i], toUsv(init[keys[i]])]);
    }
  }
  get size() {
    return this.#pairs.length;
  }
  append(name, value) {
    if (arguments.length < 2) throw missingPair();
    push(this.#pairs, [toUsv(name), toUsv(value)]);
    this.#changed();
  }
  delete(name, value) {
    if (arguments.length < 1) throw missingName();
    this.#keep((pair) => pair[0] !== toUsv(name) || (value !== undefined && pair[1] !== toUsv(value)));
    this.#changed();
  }
  get(name) {
    if (arguments.length < 1) throw missingName();
    return this.getAll(name)[0] ?? null;
  }
  getAll(name) {
    if (arguments.length < 1) throw missingName();
    const values = [];
    for (let i = 0; i < this.#pairs.length; i++)
      if (this.#pairs[i][0] === toUsv(name)) push(values, this.#pairs[i][1]);
    return values;
  }
  has(name, value) {
    if (arguments.length < 1) throw missingName();
    const values = this.getAll(name);
    return value === undefined ? values.length > 0 : contains(values, toUsv(value));
  }
  set(name, value) {
    if (arguments.length < 2) throw missingPair();
    let placed = false;
    this.#keep((pair) => {
      if (pair[0] !== toUsv(name)) return true;
      if (placed) return false;
      pair[1] = toUsv(value);
      placed = true;
      return true;
    });
    if (!placed) push(this.#pairs, [toUsv(name), toUsv(value)]);
    this.#changed();
  }
  sort() {
    sort(this.#pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#changed();
  }
  forEach(callback, self) {
    if (typeof callback !== 'function') throw nodeError(new TypeError('The "callback" argument must be of type function.' + received(callback)), 'ERR_INVALID_ARG_TYPE');
    for (let i = 0; i < this.#pairs.length; i++) apply(callback, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
  }
  entries() {
    return makeParamsIterator(() => this.#pairs, (pair) => [pair[0], pair[1]]);
  }
  keys() {
    return makeParamsIterator(() => this.#pairs, (pair) => pair[0]);
  }
  values() {
    return makeParamsIterator(() => this.#pairs, (pair) => pair[1]);
  }
  toString() {
    return join(
      mapList(this.#pairs, (pair) => formEncode(pair[0]) + '=' + formEncode(pair[1])),
      '&',
    );
  }
  #keep(wanted) {
    const kept = [];
    for (let i = 0; i < this.#pairs.length; i++) if (wanted(this.#pairs[i])) push(kept, this.#pairs[i]);
    this.#pairs = kept;
  }
}
define(URLSearchParams.prototype, symbolIterator, URLSearchParams.prototype.entries);
const { attach: attachParams, reload: reloadParams } = URLSearchParams;
delete URLSearchParams.attach;
delete URLSearchParams.reload;
const paramsToString = uncurry(URLSearchParams.prototype.toString);
defineGlobal('URLSearchParams', URLSearchParams);

// Order of the parts in which the native function returns a URL.
const urlParts = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
];

const invalidUrl = (input, base) => {
  const error = defineCode(new TypeError('Invalid URL'), 'ERR_INVALID_URL');
  error.input = input;
  if (base !== undefined) error.base = base;
  return error;
};

const queryPairs = (search) => {
  const pairs = [];
  parseForm(search, pairs);
  return pairs;
};

class URL {
  #parts;
  #params;
  constructor(input, base) {
    if (arguments.length === 0) throw nodeError(new TypeError('The "url" argument must be specified'), 'ERR_MISSING_ARGS');
    const text = toUsv(input);
    const from = base === undefined ? '' : toUsv(base);
    this.#parts = base !== undefined && from === '' ? [] : native.parseUrl(text, from);
    if (this.#parts.length === 0) throw invalidUrl(text, base === undefined ? undefined : from);
  }
  static get(url, index) {
    return url.#parts[index];
  }
  static set(url, part, value) {
    const parts = native.changeUrl(url.#parts[0], part, value);
    if (parts.length === 0) throw invalidUrl(value);
    url.#parts = parts;
    if (url.#params !== undefined && (part === 'href' || part === 'search')) {
      reloadParams(url.#params, queryPairs(parts[9]));
    }
  }
  get searchParams() {
    if (this.#params === undefined) {
      this.#params = attachParams(queryPairs(this.#parts[9]), () => {
        this.#parts = native.changeUrl(this.#parts[0], 'search', paramsToString(this.#params));
      });
    }
    return this.#params;
  }
  toString() {
    return this.#parts[0];
  }
  toJSON() {
    return this.#parts[0];
  }
  static canParse(input, base) {
    if (arguments.length === 0) throw nodeError(new TypeError('The "url" argument must be specified'), 'ERR_MISSING_ARGS');
    const from = base === undefined ? '' : toUsv(base);
    return !(base !== undefined && from === '') && native.parseUrl(toUsv(input), from).length > 0;
  }
  static parse(input, base) {
    if (arguments.length === 0) throw nodeError(new TypeError('The "url" argument must be specified'), 'ERR_MISSING_ARGS');
    try {
      return new URL(input, base);
    } catch {
      return null;
    }
  }
  static isUrl(value) {
    return isObject(value) && #parts in value;
  }
}
define(URLSearchParams.prototype, customInspect, {
  [customInspect](depth, options) {
    const shown = [];
    const list = [...this];
    for (let i = 0; i < list.length; i++) push(shown, quoteString(list[i][0]) + ' => ' + quoteString(list[i][1]));
    return shown.length === 0 ? 'URLSearchParams {}' : 'URLSearchParams { ' + join(shown, ', ') + ' }';
  },
}[customInspect]);
const shownParts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search'];
define(URL.prototype, customInspect, {
  [customInspect](depth, options) {
    const shown = new (class URL {})();
    for (let i = 0; i < shownParts.length; i++) shown[shownParts[i]] = this[shownParts[i]];
    shown.searchParams = this.searchParams;
    shown.hash = this.hash;
    return inspect(shown, options);
  },
}[customInspect]);
const { get: urlPart, set: setUrlPart, isUrl } = URL;
delete URL.get;
delete URL.set;
delete URL.isUrl;
mapList(urlParts, (part, index) => {
  const accessors = {
    get [part]() {
      return urlPart(this, index);
    },
    set [part](value) {
      setUrlPart(this, part, toUsv(value));
    },
  };
  const property = getOwnPropertyDescriptor(accessors, part);
  if (part === 'origin') delete property.set;
  property.__proto__ = null;
  property.enumerable = true;
  defineProperty(URL.prototype, part, property);
});
defineGlobal('URL', URL);
