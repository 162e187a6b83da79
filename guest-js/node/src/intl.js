// `Intl` and the `toLocale…` methods, for the locales that `intl-data.mjs` names. Existing libraries bring several
// hundred kilobytes of data for one locale. Time zones, collation and segmentation are native.

import { DateTimeFormat } from './intl-dates.js';
import { isKnown, requested } from './intl-locales.js';
import { NumberFormat } from './intl-numbers.js';
import { PluralRules } from './intl-plurals.js';
import { Collator, Segmenter } from './intl-text.js';
import { DisplayNames, ListFormat, Locale, RelativeTimeFormat, supportedValues } from './intl-words.js';

const Intl = {};
const classes = { Collator, DateTimeFormat, DisplayNames, ListFormat, Locale, NumberFormat, PluralRules, RelativeTimeFormat, Segmenter };
const hide = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
// As the standard says, these constructors can be called without `new`.
const callables = ['Collator', 'DateTimeFormat', 'NumberFormat'];
for (const [name, Class] of Object.entries(classes)) {
  const callable = new Proxy(Class, {
    apply(target, self, values) {
      if (!callables.includes(name)) throw new TypeError(`Constructor Intl.${name} requires 'new'`);
      return new target(...values.slice(0, 2));
    },
    // Further arguments are internal, and a script must not pass them.
    construct: (target, values, made) => Reflect.construct(target, values.slice(0, 2), made),
  });
  hide(Intl, name, callable);
  hide(Class.prototype, 'constructor', callable);
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
  hide(Class, 'supportedLocalesOf', { supportedLocalesOf: (locales) => requested(locales).filter(isKnown) }.supportedLocalesOf);
}
hide(Intl, 'getCanonicalLocales', { getCanonicalLocales: (locales) => requested(locales) }.getCanonicalLocales);
hide(Intl, 'supportedValuesOf', { supportedValuesOf: (key) => supportedValues(String(key)) }.supportedValuesOf);
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
hide(globalThis, 'Intl', Intl);

const isTurkish = (locales) => locales !== undefined && /^(tr|az)\b/.test(requested(locales)[0] ?? '');
const { valueOf: numberOf } = Number.prototype;
const { valueOf: bigintOf } = BigInt.prototype;
const { getTime } = Date.prototype;
// Lists that are being formatted: a list that contains itself is written as empty there.
const listing = [];
const writeList = (list, length, locales, options) => {
  for (let i = 0; i < listing.length; i++) if (listing[i] === list) return '';
  listing[listing.length] = list;
  try {
    let text = '';
    for (let i = 0; i < length; i++) {
      const item = list[i];
      if (i > 0) text += ',';
      if (item !== undefined && item !== null) text += String(item.toLocaleString(locales, options));
    }
    return text;
  } finally {
    listing.length--;
  }
};
const lengthOf = (list) => Math.min(Math.max(Math.trunc(Number(list.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
const listed = (self, locales, options) => {
  const list = Object(self);
  return writeList(list, lengthOf(list), locales, options);
};
// Returns the number that a method was called on.
const receiver = (valueOf, self, name) => {
  try {
    return valueOf.call(self);
  } catch {
    throw new TypeError(`${name}.prototype.toLocaleString requires that 'this' be a ${name}`);
  }
};
const methods = {
  Number: { toLocaleString: (self, locales, options) => new NumberFormat(locales, options, 'Number.prototype.toLocaleString').format(receiver(numberOf, self, 'Number')) },
  BigInt: { toLocaleString: (self, locales, options) => new NumberFormat(locales, options, 'BigInt.prototype.toLocaleString').format(receiver(bigintOf, self, 'BigInt')) },
  Array: { toLocaleString: listed },
  Date: {
    toLocaleString: (self, locales, options) => new DateTimeFormat(locales, options, 'any', 'all', 'Date.prototype.toLocaleString').format(self),
    toLocaleDateString: (self, locales, options) => new DateTimeFormat(locales, options, 'date', 'date', 'Date.prototype.toLocaleDateString').format(self),
    toLocaleTimeString: (self, locales, options) => new DateTimeFormat(locales, options, 'time', 'time', 'Date.prototype.toLocaleTimeString').format(self),
  },
  String: {
    toLocaleUpperCase: (self, locales) => (isTurkish(locales) ? String(self).replace(/i/g, 'İ') : String(self)).toUpperCase(),
    toLocaleLowerCase: (self, locales) => (isTurkish(locales) ? String(self).replace(/I\u0307|İ/g, 'i').replace(/I/g, 'ı') : String(self)).toLowerCase(),
    localeCompare: (self, other, locales, options) => localeCompare(String(self), String(other), locales, options),
  },
};
const isDate = (value) => {
  try {
    getTime.call(value);
    return true;
  } catch {
    return false;
  }
};
// Returns a value as V8 names it in errors.
const shown = (value) => (typeof value !== 'object' || value === null ? String(value) : Array.isArray(value) ? '[object Array]' : `#<${value.constructor?.name ?? 'Object'}>`);
// Collator of the last `localeCompare` with a locale and no options. Sorting calls that method for each comparison, and
// opening a collator takes a hundred times as long as comparing.
const last = { locale: undefined, compare: undefined };
const localeCompare = (self, other, locale, options) => {
  const isPlain = options === undefined && (locale === undefined || typeof locale === 'string');
  if (isPlain && last.compare !== undefined && last.locale === locale) return last.compare(self, other);
  const { compare } = new Collator(locale, options, 'String.prototype.localeCompare');
  if (isPlain) Object.assign(last, { locale, compare });
  return compare(self, other);
};
const invalid = (self) => self instanceof Date && Number.isNaN(self.getTime());
for (const [name, list] of Object.entries(methods)) {
  for (const [method, work] of Object.entries(list)) {
    const made = {
      [method]() {
        'use strict';
        if (name === 'Date' && !isDate(this)) throw new TypeError(`Method Date.prototype.${method} called on incompatible receiver ${shown(this)}`);
        if (this == null && name === 'Array') throw new TypeError('Cannot convert undefined or null to object');
        if (this == null && name === 'String') throw new TypeError(`${name}.prototype.${method} called on null or undefined`);
        return invalid(this) ? 'Invalid Date' : work(this, ...arguments);
      },
    }[method];
    hide(globalThis[name].prototype, method, made);
  }
}

const typedArrays = Object.getPrototypeOf(Int8Array.prototype);
const { get: typedLength } = Object.getOwnPropertyDescriptor(typedArrays, 'length');
hide(typedArrays, 'toLocaleString', {
  toLocaleString(locales, options) {
    'use strict';
    if (!ArrayBuffer.isView(this) || this instanceof DataView) {
      throw new TypeError(`Method %TypedArray%.prototype.toLocaleString called on incompatible receiver ${shown(this)}`);
    }
    return writeList(this, typedLength.call(this), locales, options);
  },
}.toLocaleString);

// V8 appends the name of the zone to the time, which is always the same one here.
const { toString, toTimeString } = Date.prototype;
const named = (text) => (text === 'Invalid Date' ? text : `${text} (Coordinated Universal Time)`);
hide(Date.prototype, 'toString', { toString() { return named(toString.call(this)); } }.toString);
hide(Date.prototype, 'toTimeString', {
  toTimeString() {
    const text = named(toTimeString.call(this));
    return text.slice(Math.max(text.search(/\d\d:\d\d:\d\d/), 0));
  },
}.toTimeString);
hide(Date.prototype, Symbol.toPrimitive, Date.prototype[Symbol.toPrimitive]);
