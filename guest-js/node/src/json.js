// `JSON.parse` and `JSON.stringify` with the error messages of V8, which scripts print.

const { parse, stringify } = JSON;
const { isProxy, className } = host.native;
const { isArray } = Array;
const { getOwnPropertyDescriptor, getPrototypeOf, keys: objectKeys } = Object;
const context = 10;
const literals = { t: 'true', f: 'false', n: 'null' };
const special = ['[object Object]', 'NaN', 'Infinity', 'undefined'];

// Scanner that finds the first error in a text that is not JSON, and throws its message.
class Scanner {
  #text;
  #at = 0;
  constructor(text) {
    this.#text = text;
  }
  // `what` is `undefined` where V8 only names the character.
  #fail(what, at = this.#at) {
    const text = this.#text;
    if (what !== undefined) throw `${what} in JSON at position ${at}`;
    if (at >= text.length) throw 'Unexpected end of JSON input';
    if (special.includes(text)) throw `"${text}" is not valid JSON`;
    const character = text[at];
    if (/[-\d]/.test(character)) throw `Unexpected number in JSON at position ${at}`;
    if (character === '"') throw `Unexpected string in JSON at position ${at}`;
    const isLong = text.length >= 2 * context + 1;
    const [cutsStart, cutsEnd] = [isLong && at >= context, isLong && at < text.length - context];
    const shown = text.slice(cutsStart ? at - context : 0, cutsEnd ? at + context : text.length);
    throw `Unexpected token '${character}', ${cutsStart ? '...' : ''}"${shown}"${cutsEnd ? '...' : ''} is not valid JSON`;
  }
  // Returns the next character that is not white space.
  #peek() {
    while (/[ \t\n\r]/.test(this.#text[this.#at] ?? 'x')) this.#at++;
    return this.#text[this.#at];
  }
  whole() {
    this.#value();
    if (this.#peek() !== undefined) throw `Unexpected non-whitespace character after JSON at position ${this.#at}`;
  }
  #value() {
    const character = this.#peek();
    if (character === '{') return this.#object();
    if (character === '[') return this.#array();
    if (character === '"') return this.#string();
    if (character !== undefined && /[-\d]/.test(character)) return this.#number();
    const literal = literals[character];
    if (literal === undefined) this.#fail();
    for (const letter of literal) {
      if (this.#text[this.#at] !== letter) this.#fail();
      this.#at++;
    }
  }
  #object() {
    this.#at++;
    if (this.#peek() === '}') return void this.#at++;
    if (this.#peek() !== '"') this.#fail("Expected property name or '}'");
    // As in V8.
    let isFirst = true;
    for (;;) {
      this.#string();
      if (this.#peek() !== ':') this.#fail(isFirst ? "Expected ':' after property name" : undefined);
      isFirst = false;
      this.#at++;
      this.#value();
      if (this.#peek() === '}') return void this.#at++;
      if (this.#peek() !== ',') this.#fail("Expected ',' or '}' after property value");
      this.#at++;
      if (this.#peek() !== '"') this.#fail('Expected double-quoted property name');
    }
  }
  #array() {
    this.#at++;
    if (this.#peek() === ']') return void this.#at++;
    for (;;) {
      this.#value();
      if (this.#peek() === ']') return void this.#at++;
      if (this.#peek() !== ',') this.#fail("Expected ',' or ']' after array element");
      this.#at++;
    }
  }
  #string() {
    this.#at++;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) this.#fail('Unterminated string');
      if (character < ' ') this.#fail('Bad control character in string literal');
      this.#at++;
      if (character === '"') return;
      if (character === '\\') this.#escape();
    }
  }
  #escape() {
    const character = this.#text[this.#at];
    if (character === undefined) this.#fail();
    if (character !== 'u') {
      if (!'"\\/bfnrt'.includes(character)) this.#fail('Bad escaped character');
      return void this.#at++;
    }
    for (let count = 0; count < 4; count++) {
      this.#at++;
      if (!/[\da-f]/i.test(this.#text[this.#at] ?? '')) this.#fail('Bad Unicode escape');
    }
    this.#at++;
  }
  #digits() {
    const start = this.#at;
    while (/\d/.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#at - start;
  }
  #number() {
    if (this.#text[this.#at] === '-' && !/\d/.test(this.#text[++this.#at] ?? '')) this.#fail('No number after minus sign');
    const isZero = this.#text[this.#at] === '0';
    if (isZero) this.#at++;
    else this.#digits();
    if (isZero && /\d/.test(this.#text[this.#at] ?? '')) this.#fail('Unexpected number');
    if (this.#text[this.#at] === '.') {
      this.#at++;
      if (this.#digits() === 0) this.#fail('Unterminated fractional number');
    }
    if (/e/i.test(this.#text[this.#at] ?? '')) {
      this.#at++;
      if (/[-+]/.test(this.#text[this.#at] ?? '')) this.#at++;
      if (this.#digits() === 0) this.#fail('Exponent part is missing a number');
    }
  }
}

const faultOf = (text) => {
  try {
    new Scanner(text).whole();
  } catch (fault) {
    return typeof fault === 'string' ? fault : undefined;
  }
  return undefined;
};

host.describeJsonFaults(faultOf);

const made = {
  parse(text, reviver) {
    // The conversion happens once, because another one may give a different text.
    const source = typeof text === 'string' ? text : `${text}`;
    try {
      return parse(source, reviver);
    } catch (error) {
      // An exception of the reviver belongs to the script, and is not changed.
      const fault = error instanceof SyntaxError ? faultOf(source) : undefined;
      throw fault === undefined ? error : new SyntaxError(fault);
    }
  },
}.parse;
Object.defineProperty(JSON, 'parse', { value: made, writable: true, enumerable: false, configurable: true });

// Finds a property with a value on an object or its prototypes, without running code of the script.
const inherited = (value, name) => {
  for (let at = value; at !== null && !isProxy(at); at = getPrototypeOf(at)) {
    const property = getOwnPropertyDescriptor(at, name);
    if (property !== undefined) return property.value;
  }
  return undefined;
};
const isOpaque = (value) =>
  typeof value !== 'object' || value === null || isProxy(value) || typeof inherited(value, 'toJSON') === 'function';

// Returns the names that an array in place of a replacer selects, without duplicates; undefined if it is not an array.
const namesOf = (replacer) => {
  if (!isArray(replacer)) return undefined;
  const names = new Set();
  for (let i = 0; i < replacer.length; i++) {
    const kind = className(replacer[i]);
    if (typeof replacer[i] === 'string' || typeof replacer[i] === 'number' || kind === 'String' || kind === 'Number') names.add(String(replacer[i]));
  }
  return [...names];
};
// Returns the entry that `stringify` descends into, with the name it has in messages; `keys` is undefined for an array,
// whose entries have numbers.
const stepFrom = (key, value, names) => {
  const keys = isArray(value) ? undefined : (names ?? objectKeys(value));
  return { key, value, keys, count: keys === undefined ? value.length : keys.length, next: 0 };
};

// Returns the path from a value to one that contains itself: values, each with its key. The search is iterative, since
// a path may be longer than the stack, and visits each value once, since many may contain it.
const circleIn = (start, replacer) => {
  const names = namesOf(replacer);
  const way = [];
  const places = new Map();
  const done = new Set();
  const enter = (key, value) => {
    places.set(value, way.length);
    way[way.length] = stepFrom(key, value, names);
  };
  if (!isOpaque(start)) enter('', start);
  while (way.length > 0) {
    const step = way[way.length - 1];
    if (step.next === step.count) {
      done.add(step.value);
      places.delete(step.value);
      way.length--;
      continue;
    }
    const key = step.keys === undefined ? step.next : step.keys[step.next];
    step.next++;
    const property = getOwnPropertyDescriptor(step.value, key)?.value;
    if (isOpaque(property) || done.has(property)) continue;
    if (places.has(property)) return { way: way.slice(places.get(property)), last: key };
    enter(key, property);
  }
  return undefined;
};
const named = (key) => (typeof key === 'number' ? `index ${key}` : key === '' ? '<anonymous>' : `property '${key}'`);
const classOf = ({ value }) => {
  const constructor = inherited(value, 'constructor');
  const name = typeof constructor === 'function' && !isProxy(constructor) ? getOwnPropertyDescriptor(constructor, 'name')?.value : undefined;
  return `object with constructor '${typeof name === 'string' && name !== '' ? name : 'Object'}'`;
};
// As V8, shows the first three values and the last one.
const circleMessage = ({ way, last }) => {
  const [start, ...rest] = way;
  const line = (step) => `\n    |     ${named(step.key)} -> ${classOf(step)}`;
  const shown = rest.length > 3 ? `${rest.slice(0, 2).map(line).join('')}\n    |     ...${line(rest.at(-1))}` : rest.map(line).join('');
  return `Converting circular structure to JSON\n    --> starting at ${classOf(start)}${shown}\n    --- ${named(last)} closes the circle`;
};
const madeText = {
  stringify(value, replacer, space) {
    try {
      return stringify(value, replacer, space);
    } catch (error) {
      // A replacer function decides about the values, so the cycle cannot be found without calling it.
      if (error?.constructor !== TypeError || error.message !== CIRCULAR || typeof replacer === 'function') throw error;
      const found = circleIn(value, replacer);
      throw found === undefined ? error : new TypeError(circleMessage(found));
    }
  },
}.stringify;
// Message of the engine.
const CIRCULAR = (() => {
  const value = {};
  value.value = value;
  try {
    return stringify(value);
  } catch (error) {
    return error.message;
  }
})();
Object.defineProperty(JSON, 'stringify', { value: madeText, writable: true, enumerable: false, configurable: true });
