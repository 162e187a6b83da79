// `URLSearchParams`. (`URL` is not here yet: a script that needs it gets a `ReferenceError`.)

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
    else encoded += '%' + apply(toUpperCase, toHex(subarray(bytes, i, i + 1)), []);
  }
  return encoded;
};
const toUpperCase = String.prototype.toUpperCase;

const parseForm = (text, pairs) => {
  const parts = split(startsWith(text, '?') ? substring(text, 1) : text, '&');
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === '') continue;
    const at = indexOf(parts[i], '=');
    const name = at < 0 ? parts[i] : substring(parts[i], 0, at);
    push(pairs, [formDecode(name), at < 0 ? '' : formDecode(substring(parts[i], at + 1))]);
  }
};

class URLSearchParams {
  #pairs = [];
  constructor(init = '') {
    if (!isObject(init)) {
      parseForm(String(init), this.#pairs);
    } else if (typeof init[symbolIterator] === 'function') {
      for (const pair of init) push(this.#pairs, [String(pair[0]), String(pair[1])]);
    } else {
      const keys = objectKeys(init);
      for (let i = 0; i < keys.length; i++) push(this.#pairs, [keys[i], String(init[keys[i]])]);
    }
  }
  get size() {
    return this.#pairs.length;
  }
  append(name, value) {
    push(this.#pairs, [String(name), String(value)]);
  }
  delete(name, value) {
    this.#keep((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
  }
  get(name) {
    return this.getAll(name)[0] ?? null;
  }
  getAll(name) {
    const values = [];
    for (let i = 0; i < this.#pairs.length; i++)
      if (this.#pairs[i][0] === String(name)) push(values, this.#pairs[i][1]);
    return values;
  }
  has(name, value) {
    const values = this.getAll(name);
    return value === undefined ? values.length > 0 : contains(values, String(value));
  }
  set(name, value) {
    let placed = false;
    this.#keep((pair) => {
      if (pair[0] !== String(name)) return true;
      if (placed) return false;
      pair[1] = String(value);
      placed = true;
      return true;
    });
    if (!placed) this.append(name, value);
  }
  sort() {
    sort(this.#pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  }
  forEach(callback, self) {
    for (let i = 0; i < this.#pairs.length; i++) apply(callback, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
  }
  *entries() {
    for (let i = 0; i < this.#pairs.length; i++) yield [this.#pairs[i][0], this.#pairs[i][1]];
  }
  *keys() {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][0];
  }
  *values() {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i][1];
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
defineGlobal('URLSearchParams', URLSearchParams);
