// `Intl` and the `toLocale…` methods, for the locales that `intl-data.mjs` names. Libraries for this bring data of several
// hundred kilobytes for one locale; time zones, the order of texts and the borders in them come from the engine.

import { DateTimeFormat } from './intl-dates.js';
import { isKnown, requested } from './intl-locales.js';
import { NumberFormat } from './intl-numbers.js';
import { PluralRules } from './intl-plurals.js';
import { Collator, Segmenter } from './intl-text.js';
import { DisplayNames, ListFormat, Locale, RelativeTimeFormat, supportedValues } from './intl-words.js';

const Intl = {};
const classes = { Collator, DateTimeFormat, DisplayNames, ListFormat, Locale, NumberFormat, PluralRules, RelativeTimeFormat, Segmenter };
const hide = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
for (const [name, Class] of Object.entries(classes)) {
  // As in the language, each can be called without `new`.
  const callable = new Proxy(Class, { apply: (target, self, values) => new target(...values) });
  hide(Intl, name, callable);
  hide(Class.prototype, 'constructor', callable);
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
  Class.supportedLocalesOf = (locales) => requested(locales).filter(isKnown);
}
hide(Intl, 'getCanonicalLocales', { getCanonicalLocales: (locales) => requested(locales) }.getCanonicalLocales);
hide(Intl, 'supportedValuesOf', { supportedValuesOf: (key) => supportedValues(String(key)) }.supportedValuesOf);
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
hide(globalThis, 'Intl', Intl);

const isTurkish = (locales) => locales !== undefined && /^(tr|az)\b/.test(requested(locales)[0] ?? '');
const { valueOf: numberOf } = Number.prototype;
const { valueOf: bigintOf } = BigInt.prototype;
const { getTime } = Date.prototype;
const listed = (self, ...rest) => Array.from(self, (item) => (item == null ? '' : String(item.toLocaleString(...rest)))).join();
const methods = {
  Number: { toLocaleString: (self, ...rest) => new NumberFormat(...rest).format(numberOf.call(self)) },
  BigInt: { toLocaleString: (self, ...rest) => new NumberFormat(...rest).format(bigintOf.call(self)) },
  Array: { toLocaleString: listed },
  Date: {
    toLocaleString: (self, locales, options) => new DateTimeFormat(locales, options, 'any', 'all').format(self),
    toLocaleDateString: (self, locales, options) => new DateTimeFormat(locales, options, 'date', 'date').format(self),
    toLocaleTimeString: (self, locales, options) => new DateTimeFormat(locales, options, 'time', 'time').format(self),
  },
  String: {
    toLocaleUpperCase: (self, locales) => (isTurkish(locales) ? String(self).replace(/i/g, 'İ') : String(self)).toUpperCase(),
    toLocaleLowerCase: (self, locales) => (isTurkish(locales) ? String(self).replace(/I\u0307|İ/g, 'i').replace(/I/g, 'ı') : String(self)).toLowerCase(),
    localeCompare: (self, other, ...rest) => new Collator(...rest).compare(String(self), String(other)),
  },
};
const invalid = (self) => self instanceof Date && Number.isNaN(self.getTime());
for (const [name, list] of Object.entries(methods)) {
  for (const [method, work] of Object.entries(list)) {
    const made = {
      [method]() {
        'use strict';
        if (name === 'Date') getTime.call(this);
        if (this == null) throw new TypeError(`${name}.prototype.${method} called on null or undefined`);
        return invalid(this) ? 'Invalid Date' : work(this, ...arguments);
      },
    }[method];
    hide(globalThis[name].prototype, method, made);
  }
}

const typedArrays = Object.getPrototypeOf(Int8Array.prototype);
hide(typedArrays, 'toLocaleString', { toLocaleString(...rest) { return listed(this, ...rest); } }.toLocaleString);

// V8 names the zone behind the time, which is always this one.
const { toString, toTimeString } = Date.prototype;
const named = (text) => (text === 'Invalid Date' ? text : `${text} (Coordinated Universal Time)`);
hide(Date.prototype, 'toString', { toString() { return named(toString.call(this)); } }.toString);
hide(Date.prototype, 'toTimeString', {
  toTimeString() {
    const text = named(toTimeString.call(this));
    return text.slice(text.search(/\d\d:\d\d:\d\d/));
  },
}.toTimeString);
hide(Date.prototype, Symbol.toPrimitive, Date.prototype[Symbol.toPrimitive]);
