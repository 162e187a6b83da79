// Format of `v8.serialize`, as V8 writes it (version 15): a tag of one byte for each value, lengths and whole numbers in
// groups of seven bits, and all else little-endian. Objects are numbered in the order in which they appear.
import { Buffer } from './buffer.js';

const { native } = host;

export const VERSION = 15;
// Classes of views in the order of their numbers; a `Buffer` has number 10.
const VIEWS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, DataView,
  Buffer, BigInt64Array, BigUint64Array,
];
const FLAGS = 'gimyusdv';
const FLAG_BITS = { g: 1, i: 2, m: 4, y: 8, u: 16, s: 32, d: 128, v: 256 };
const ERRORS = { EvalError: 'E', RangeError: 'R', ReferenceError: 'F', SyntaxError: 'S', TypeError: 'T', URIError: 'U' };
const INT = 2 ** 31;
const isIndex = (key) => /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
const isInt = (value) => Number.isInteger(value) && value >= -INT && value < INT && !Object.is(value, -0);

export class Writer {
  #bytes = Buffer.alloc(64);
  #length = 0;
  #ids = new Map();
  constructor() {
    this.#byte(0xff);
    this.#byte(VERSION);
  }
  #room(more) {
    if (this.#length + more <= this.#bytes.length) return;
    this.#bytes = Buffer.concat([this.#bytes], Math.max(this.#bytes.length * 2, this.#length + more));
  }
  #byte(byte) {
    this.#room(1);
    this.#bytes[this.#length++] = byte;
  }
  #tag(letter) {
    this.#byte(letter.charCodeAt(0));
  }
  #varint(number) {
    let left = number;
    for (; left >= 128; left = Math.floor(left / 128)) this.#byte((left % 128) | 128);
    this.#byte(left);
  }
  #double(number) {
    this.#room(8);
    this.#bytes.writeDoubleLE(number, this.#length);
    this.#length += 8;
  }
  #raw(bytes) {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }
  #string(text) {
    if (!/[^\0-\xff]/.test(text)) {
      this.#tag('"');
      this.#varint(text.length);
      this.#raw(Buffer.from(text, 'latin1'));
      return;
    }
    const bytes = Buffer.from(text, 'utf16le');
    const size = bytes.length < 128 ? 1 : bytes.length < 128 ** 2 ? 2 : bytes.length < 128 ** 3 ? 3 : 4;
    // The text begins at an even place.
    if ((this.#length + 1 + size) % 2 === 1) this.#byte(0);
    this.#tag('c');
    this.#varint(bytes.length);
    this.#raw(bytes);
  }
  #bigInt(value) {
    const isNegative = value < 0n;
    let digits = (isNegative ? -value : value).toString(16);
    const length = value === 0n ? 0 : Math.ceil(digits.length / 16) * 8;
    digits = digits.padStart(length * 2, '0');
    this.#varint(length * 2 + (isNegative ? 1 : 0));
    if (length > 0) this.#raw(Buffer.from(digits, 'hex').reverse());
  }
  #number(value) {
    if (isInt(value)) {
      this.#tag('I');
      this.#varint(value >= 0 ? value * 2 : -value * 2 - 1);
    } else {
      this.#tag('N');
      this.#double(value);
    }
  }
  write(value) {
    switch (typeof value) {
      case 'undefined':
        return this.#tag('_');
      case 'boolean':
        return this.#tag(value ? 'T' : 'F');
      case 'number':
        return this.#number(value);
      case 'bigint':
        this.#tag('Z');
        return this.#bigInt(value);
      case 'string':
        return this.#string(value);
      case 'object':
        return value === null ? this.#tag('0') : this.#object(value);
      default:
        throw uncloneable(value);
    }
  }
  #object(object) {
    const known = this.#ids.get(object);
    if (known !== undefined) {
      this.#tag('^');
      this.#varint(known);
      return;
    }
    this.#ids.set(object, this.#ids.size);
    if (ArrayBuffer.isView(object)) this.#view(object);
    else if (Array.isArray(object) && !native.isProxy(object)) this.#array(object);
    else (this.#writers[native.isProxy(object) ? 'Proxy' : native.className(object)] ?? uncloneableObject)(object);
  }
  #view(view) {
    const number = Buffer.isBuffer(view) ? 10 : VIEWS.findIndex((Class) => view instanceof Class);
    this.#tag('\\');
    this.#varint(number);
    this.#varint(view.byteLength);
    this.#raw(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  }
  // Writes properties, and returns how many there are.
  #properties(object, keys) {
    let count = 0;
    for (const key of keys) {
      if (!Object.hasOwn(object, key)) continue;
      if (isIndex(key)) this.#number(Number(key));
      else this.#string(key);
      this.write(object[key]);
      count++;
    }
    return count;
  }
  #array(list) {
    const { length } = list;
    const keys = Object.keys(list);
    const isDense = keys.length >= length && (length === 0 || (keys[length - 1] === String(length - 1)));
    this.#tag(isDense ? 'A' : 'a');
    this.#varint(length);
    if (isDense) {
      for (let at = 0; at < length; at++) {
        if (at in list) this.write(list[at]);
        else this.#tag('-');
      }
    }
    const count = this.#properties(list, isDense ? keys.slice(length) : keys);
    this.#tag(isDense ? '$' : '@');
    this.#varint(count);
    this.#varint(length);
  }
  #error(error) {
    this.#tag('r');
    const letter = ERRORS[error.name];
    if (letter !== undefined) this.#tag(letter);
    const message = Object.getOwnPropertyDescriptor(error, 'message')?.value;
    if (message !== undefined) {
      this.#tag('m');
      this.#string(String(message));
    }
    if (Object.hasOwn(error, 'cause')) {
      this.#tag('c');
      this.write(error.cause);
    }
    if (typeof error.stack === 'string') {
      this.#tag('s');
      this.#string(error.stack);
    }
    this.#tag('.');
  }
  #writers = {
    __proto__: null,
    Object: (object) => {
      this.#tag('o');
      const count = this.#properties(object, Object.keys(object));
      this.#tag('{');
      this.#varint(count);
    },
    Error: (error) => this.#error(error),
    Date: (date) => {
      this.#tag('D');
      this.#double(date.getTime());
    },
    RegExp: (expression) => {
      this.#tag('R');
      this.#string(expression.source);
      this.#varint([...expression.flags].reduce((bits, flag) => bits | FLAG_BITS[flag], 0));
    },
    Map: (map) => {
      this.#tag(';');
      const entries = [...map];
      for (const [key, value] of entries) {
        this.write(key);
        this.write(value);
      }
      this.#tag(':');
      this.#varint(entries.length * 2);
    },
    Set: (set) => {
      this.#tag("'");
      const values = [...set];
      for (const value of values) this.write(value);
      this.#tag(',');
      this.#varint(values.length);
    },
    Boolean: (object) => this.#tag(object.valueOf() ? 'y' : 'x'),
    Number: (object) => {
      this.#tag('n');
      this.#double(object.valueOf());
    },
    BigInt: (object) => {
      this.#tag('z');
      this.#bigInt(object.valueOf());
    },
    String: (object) => {
      this.#tag('s');
      this.#string(object.valueOf());
    },
    ArrayBuffer: (buffer) => {
      this.#tag('B');
      this.#varint(buffer.byteLength);
      this.#raw(new Uint8Array(buffer));
    },
  };
  finish() {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }
}

const uncloneable = (value) => new Error(`${String(value)} could not be cloned.`);
const uncloneableObject = (object) => {
  throw new Error(`#<${object.constructor?.name ?? 'Object'}> could not be cloned.`);
};

const broken = () => new Error('Unable to deserialize cloned data.');

export class Reader {
  #bytes;
  #at = 0;
  #objects = [];
  #version;
  constructor(bytes) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#bytes[0] !== 0xff) throw new Error('Unable to deserialize cloned data due to invalid or unsupported version.');
    this.#at = 1;
    this.#version = this.#varint();
    if (this.#version > VERSION) throw new Error('Unable to deserialize cloned data due to invalid or unsupported version.');
  }
  #byte() {
    if (this.#at >= this.#bytes.length) throw broken();
    return this.#bytes[this.#at++];
  }
  #tag() {
    let byte;
    do byte = this.#byte();
    while (byte === 0);
    return String.fromCharCode(byte);
  }
  #peek() {
    while (this.#bytes[this.#at] === 0) this.#at++;
    return String.fromCharCode(this.#bytes[this.#at]);
  }
  #varint() {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      number += (byte & 127) * factor;
      if (byte < 128) return number;
    }
  }
  #take(length) {
    if (length > this.#bytes.length - this.#at) throw broken();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
  #double() {
    return this.#take(8).readDoubleLE(0);
  }
  #bigInt() {
    const bits = this.#varint();
    const bytes = Buffer.from(this.#take(Math.floor(bits / 2))).reverse();
    const value = bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
    return bits % 2 === 1 ? -value : value;
  }
  #string(tag = this.#tag()) {
    if (tag === '"') return this.#take(this.#varint()).toString('latin1');
    if (tag === 'c') return this.#take(this.#varint()).toString('utf16le');
    if (tag === 'S') return this.#take(this.#varint()).toString('utf8');
    throw broken();
  }
  #keep(object) {
    this.#objects.push(object);
    return object;
  }
  #readers = {
    __proto__: null,
    _: () => undefined,
    0: () => null,
    T: () => true,
    F: () => false,
    I: () => {
      const bits = this.#varint();
      return bits % 2 === 1 ? -(bits + 1) / 2 : bits / 2;
    },
    U: () => this.#varint(),
    N: () => this.#double(),
    Z: () => this.#bigInt(),
    '"': () => this.#string('"'),
    c: () => this.#string('c'),
    S: () => this.#string('S'),
    '^': () => {
      const id = this.#varint();
      if (id >= this.#objects.length) throw broken();
      return this.#objects[id];
    },
    o: () => this.#properties(this.#keep({}), '{', 1),
    A: () => this.#dense(),
    a: () => {
      const length = this.#varint();
      if (length >= 2 ** 32) throw broken();
      const list = this.#keep([]);
      list.length = length;
      return this.#properties(list, '@', 2);
    },
    D: () => this.#keep(new Date(this.#double())),
    y: () => this.#keep(Object(true)),
    x: () => this.#keep(Object(false)),
    n: () => this.#keep(Object(this.#double())),
    z: () => this.#keep(Object(this.#bigInt())),
    s: () => this.#keep(Object(this.#string())),
    R: () => {
      const source = this.#string();
      const bits = this.#varint();
      return this.#keep(new RegExp(source, [...FLAGS].filter((flag) => bits & FLAG_BITS[flag]).join('')));
    },
    ';': () => {
      const map = this.#keep(new Map());
      while (this.#peek() !== ':') map.set(this.read(), this.read());
      return this.#end(map, 1);
    },
    "'": () => {
      const set = this.#keep(new Set());
      while (this.#peek() !== ',') set.add(this.read());
      return this.#end(set, 1);
    },
    B: () => {
      const bytes = this.#take(this.#varint());
      return this.#keep(new Uint8Array(bytes).buffer);
    },
    '\\': () => this.#view(),
    r: () => this.#error(),
  };
  // Reads the tag at the end of an object, and the counts that follow it.
  #end(object, counts) {
    this.#tag();
    for (let left = counts; left > 0; left--) this.#varint();
    return object;
  }
  #properties(object, last, counts) {
    while (this.#peek() !== last) {
      const key = this.read();
      if (typeof key !== 'string' && typeof key !== 'number') throw broken();
      Object.defineProperty(object, key, { value: this.read(), writable: true, enumerable: true, configurable: true });
    }
    return this.#end(object, counts);
  }
  #dense() {
    const length = this.#varint();
    if (length > this.#bytes.length - this.#at) throw broken();
    const list = this.#keep([]);
    list.length = length;
    for (let at = 0; at < length; at++) {
      if (this.#peek() === '-') this.#tag();
      else list[at] = this.read();
    }
    return this.#properties(list, '$', 2);
  }
  #view() {
    const id = this.#objects.push(undefined) - 1;
    const Class = VIEWS[this.#varint()];
    const bytes = this.#take(this.#varint());
    if (Class === undefined || bytes.length % (Class.BYTES_PER_ELEMENT ?? 1) !== 0) throw broken();
    const { buffer } = new Uint8Array(bytes);
    this.#objects[id] = Class === Buffer ? Buffer.from(buffer) : new Class(buffer);
    return this.#objects[id];
  }
  #error() {
    const id = this.#objects.push(undefined) - 1;
    let [Class, message, stack] = [Error, undefined, undefined];
    const options = {};
    for (let tag = this.#tag(); tag !== '.'; tag = this.#tag()) {
      const name = Object.keys(ERRORS).find((known) => ERRORS[known] === tag);
      if (name !== undefined) Class = globalThis[name];
      else if (tag === 'm') message = this.#string();
      else if (tag === 'c') options.cause = this.read();
      else if (tag === 's') stack = this.#string();
      else throw broken();
    }
    const error = new Class(message, options);
    Object.defineProperty(error, 'stack', { value: stack, writable: true, configurable: true });
    this.#objects[id] = error;
    return error;
  }
  read() {
    const reader = this.#readers[this.#tag()];
    if (reader === undefined) throw broken();
    return reader();
  }
}
