// `MIMEType` and `MIMEParams` of `util`: types of media, as the WHATWG's standard reads and writes them.
import { codedError } from './util.js';

const NO_TOKEN = /[^!#$%&'*+\-.^_`|~A-Za-z0-9]/;
const NO_QUOTED_STRING = /[^\t\u0020-~\u0080-\u00ff]/;
const lower = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const withoutEnd = (text) => text.replace(/[\r\n\t ]+$/, '');

const invalidSyntax = (what, text, at) =>
  codedError(TypeError, 'ERR_INVALID_MIME_SYNTAX', `The MIME syntax for a ${what} in "${text}" is invalid${at === -1 ? '' : ` at ${at}`}`);
const checkToken = (what, token, text = token) => {
  const at = token.search(NO_TOKEN);
  if (token === '' || at !== -1) throw invalidSyntax(what, text, at);
  return token;
};

// Reads the part of a parameter behind `"`. Returns the value and the length of what was read.
const readQuoted = (text) => {
  const [read, loneSlash, quote] = /^(?:([\\]$)|[\\][\s\S]|[^"])*(?:(")|$)/u.exec(text);
  const inside = loneSlash || quote ? read.slice(0, -1) : read;
  return [inside.replace(/\\([\s\S])/g, '$1') + (loneSlash ? '\\' : ''), read.length];
};

export class MIMEParams {
  #data = new Map();
  // Reads parameters; those that are not valid, or not the first of their name, are left out.
  static read(text) {
    const params = new MIMEParams();
    const all = withoutEnd(text);
    for (let at = 0; at < all.length; at++) {
      at += /^[\r\n\t ]*/.exec(all.slice(at))[0].length;
      const name = lower(/^[^;=]*/.exec(all.slice(at))[0]);
      at += name.length;
      if (all[at] !== '=') continue;
      at++;
      let value;
      if (all[at] === '"') {
        const [quoted, length] = readQuoted(all.slice(at + 1));
        value = quoted;
        at += length + 1;
        // What stands between the quotation mark and the next parameter is ignored.
        at += /^[^;]*/.exec(all.slice(at))[0].length;
      } else {
        const [raw] = /^[^;]*/.exec(all.slice(at));
        at += raw.length;
        value = withoutEnd(raw);
        if (value === '') continue;
      }
      const isValid = name !== '' && !NO_TOKEN.test(name) && !NO_QUOTED_STRING.test(value);
      if (isValid && !params.#data.has(name)) params.#data.set(name, value);
    }
    return params;
  }
  delete(name) {
    this.#data.delete(name);
  }
  get(name) {
    return this.#data.get(name) ?? null;
  }
  has(name) {
    return this.#data.has(name);
  }
  set(name, value) {
    const [key, text] = [`${name}`, `${value}`];
    checkToken('parameter name', key);
    const at = text.search(NO_QUOTED_STRING);
    if (at !== -1) throw invalidSyntax('parameter value', text, at);
    this.#data.set(key, text);
  }
  *entries() {
    yield* this.#data.entries();
  }
  *keys() {
    yield* this.#data.keys();
  }
  *values() {
    yield* this.#data.values();
  }
  toString() {
    const written = (value) => (value !== '' && !NO_TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`);
    return [...this.#data].map(([name, value]) => `${name}=${written(value)}`).join(';');
  }
}
const { read } = MIMEParams;
delete MIMEParams.read;
const define = (holder, name, value) => Object.defineProperty(holder, name, { value, writable: true, configurable: true });
define(MIMEParams.prototype, Symbol.iterator, MIMEParams.prototype.entries);
define(MIMEParams.prototype, 'toJSON', MIMEParams.prototype.toString);

export class MIMEType {
  #type;
  #subtype;
  #params;
  constructor(given) {
    const text = `${given}`;
    const [, type, slash, rawSubtype, rest] = /^[\r\n\t ]*([^/]*)(\/?)([^;]*);?([^]*)$/.exec(text);
    if (slash === '') throw invalidSyntax('type', text, type.search(NO_TOKEN));
    this.#type = lower(checkToken('type', type, text));
    this.#subtype = lower(checkToken('subtype', withoutEnd(rawSubtype), text));
    this.#params = read(rest);
  }
  get type() {
    return this.#type;
  }
  set type(value) {
    this.#type = lower(checkToken('type', `${value}`));
  }
  get subtype() {
    return this.#subtype;
  }
  set subtype(value) {
    this.#subtype = lower(checkToken('subtype', `${value}`));
  }
  get essence() {
    return `${this.#type}/${this.#subtype}`;
  }
  get params() {
    return this.#params;
  }
  toString() {
    const params = this.#params.toString();
    return this.essence + (params === '' ? '' : `;${params}`);
  }
}
define(MIMEType.prototype, 'toJSON', MIMEType.prototype.toString);
