// Writes src/intl-data.js and intl-data.bin: the data of `Intl` for the locales that scripts name most often, taken
// from the Node that runs this program (and so from the CLDR). The guest reads the second file when a script names a
// locale. `--check` only compares; another version of ICU gives partly different data.

import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { calendars, currencies, oldCurrencies, namesOf as displayNamesOf, simpleUnits, wordsOf, zonesOf } from './intl-words.mjs';
import { derivedFrom, rewrite } from './src/intl-derive.js';

// Locales by language. The first one of a language has all of its data, and the others have their differences from it.
const groups = {
  en: ['en-US', 'en-GB', 'en-CA', 'en-AU', 'en-IN', 'en-NZ', 'en-IE', 'en-ZA', 'en-SG', 'en-HK', 'en-PH', 'en-AE', 'en-IL'],
  de: ['de', 'de-AT', 'de-CH', 'de-LI', 'de-LU', 'de-BE', 'de-IT'],
  fr: ['fr', 'fr-CA', 'fr-BE', 'fr-CH', 'fr-LU'],
  es: ['es', 'es-MX', 'es-AR', 'es-CO', 'es-CL', 'es-PE', 'es-US', 'es-419'],
  it: ['it', 'it-CH'],
  pt: ['pt', 'pt-PT', 'pt-AO'],
  nl: ['nl', 'nl-BE'],
  pl: ['pl'],
  ru: ['ru', 'ru-UA', 'ru-KZ'],
  uk: ['uk'],
  tr: ['tr'],
  ja: ['ja'],
  zh: ['zh', 'zh-TW', 'zh-HK', 'zh-SG'],
  ko: ['ko'],
  ar: ['ar', 'ar-EG', 'ar-SA', 'ar-MA', 'ar-AE'],
  hi: ['hi'],
  sv: ['sv', 'sv-FI'],
  id: ['id'],
  da: ['da'],
  nb: ['nb'],
  cs: ['cs'],
  he: ['he'],
  hu: ['hu'],
  ro: ['ro'],
  vi: ['vi'],
};
const locales = Object.values(groups).flat();

const latin = (text) => text.replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660));
const numberParts = (locale, options, number) => new Intl.NumberFormat(locale, options).formatToParts(number);
const valueOf = (parts, type) => parts.find((part) => part.type === type)?.value;

// Returns the parts around a number as text: `#` is the number itself, `¤` the currency, `-` the sign.
const shapeOf = (parts) =>
  parts
    .map(({ type, value }) => (['integer', 'group', 'decimal', 'fraction'].includes(type) ? '#' : type === 'currency' ? '¤' : type === 'minusSign' ? '-' : value))
    .join('')
    .replace(/#+/g, '#');

const symbolsOf = (locale) => {
  const symbols = {};
  for (const currency of currencies) {
    const shown = (currencyDisplay) => {
      const parts = numberParts(locale, { style: 'currency', currency, currencyDisplay }, 5);
      // A directional mark belongs to the symbol.
      return valueOf(parts, 'currency') + (parts.at(-2).type === 'currency' && parts.at(-1).value === '\u200f' ? '\u200f' : '');
    };
    const [symbol, narrow] = [shown('symbol'), shown('narrowSymbol')];
    if (narrow !== symbol) symbols[currency] = `${symbol} ${narrow}`;
    else if (symbol !== currency) symbols[currency] = symbol;
  }
  return symbols;
};

const numbersOf = (locale, numberingSystem) => {
  const parts = (options, number) => numberParts(locale, { numberingSystem, ...options }, number);
  const plain = parts({}, -1234567.5);
  const money = (currency, number, options) => parts({ style: 'currency', currency, ...options }, number);
  const shapes = (currency, options) => [
    shapeOf(money(currency, 5, options)), shapeOf(money(currency, -5, options)), shapeOf(money(currency, -5, { currencySign: 'accounting', ...options })),
    shapeOf(money(currency, 5, { currencySign: 'accounting', ...options })),
  ];
  const separators = (found) => valueOf(found, 'decimal') + (valueOf(found, 'group') ?? '');
  const grouped = (number) => parts({}, number).some(({ type }) => type === 'group');
  const groupSize = (found) => (found.filter(({ type }) => type === 'integer').at(-2).value.length);
  const scientific = parts({ notation: 'scientific' }, 1.5e-5);
  return {
    separators: separators(plain),
    money: separators(money('EUR', -1234567.5)),
    least: grouped(1234) ? 1 : 2,
    second: groupSize(parts({}, 1234567890)),
    ledger: groupSize(money('EUR', 1234567890, { currencySign: 'accounting' })),
    minus: valueOf(plain, 'minusSign'),
    plus: valueOf(parts({ signDisplay: 'always' }, 5), 'plusSign'),
    nan: valueOf(parts({}, NaN), 'nan'),
    infinity: valueOf(parts({}, Infinity), 'infinity'),
    exponent: valueOf(scientific, 'exponentSeparator'),
    exponentMinus: scientific.slice(scientific.findIndex(({ type }) => type === 'exponentSeparator') + 1, -1).map(({ value }) => value).join(''),
    decimal: [shapeOf(parts({}, 5)), shapeOf(parts({}, -5))],
    percent: [shapeOf(parts({ style: 'percent' }, 0.5)), shapeOf(parts({ style: 'percent' }, -0.5))],
    // The patterns around a currency sign, and around a currency code.
    shapes: [shapes('INR', { currencyDisplay: 'narrowSymbol' }), shapes('CHF')],
  };
};
const probes = [];
for (let month = 0; month < 12; month++) for (const day of [3, 5, 17, 28]) probes.push(Date.UTC(2023 + (month % 3), month, day, 0, 5, 9));
const hours = Array.from({ length: 24 }, (_, hour) => Date.UTC(2024, 5, 5, hour, 5, 9));
const formatters = new Map();
const formatter = (locale, options) => {
  const key = locale + JSON.stringify(options);
  if (!formatters.has(key)) formatters.set(key, new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }));
  return formatters.get(key);
};
const dateParts = (locale, options, at) => formatter(locale, options).formatToParts(at);

const monthTable = (locale, options) => Array.from({ length: 12 }, (_, month) => valueOf(dateParts(locale, options, Date.UTC(2024, month, 5)), 'month'));
const weekdayTable = (locale, options) => Array.from({ length: 7 }, (_, day) => valueOf(dateParts(locale, options, Date.UTC(2024, 8, 1 + day)), 'weekday'));
const namesOf = (locale) => ({
  M: monthTable(locale, { month: 'long', day: 'numeric' }),
  L: monthTable(locale, { month: 'long' }),
  m: monthTable(locale, { month: 'short', day: 'numeric' }),
  l: monthTable(locale, { month: 'short' }),
  N: monthTable(locale, { month: 'narrow' }),
  W: weekdayTable(locale, { weekday: 'long', month: 'long', day: 'numeric' }),
  w: weekdayTable(locale, { weekday: 'short', month: 'long', day: 'numeric' }),
  V: weekdayTable(locale, { weekday: 'long' }),
  v: weekdayTable(locale, { weekday: 'short' }),
  n: weekdayTable(locale, { weekday: 'narrow' }),
  a: hours.map((at) => valueOf(dateParts(locale, { hour: 'numeric', hour12: true }, at), 'dayPeriod')),
  b: hours.map((at) => valueOf(dateParts(locale, { timeStyle: 'short', hour12: true }, at), 'dayPeriod')),
});

const two = (number) => String(number).padStart(2, '0');
// Returns the text of each letter of a pattern at an instant.
const letters = (names) => ({
  day: { d: (at) => String(at.getUTCDate()), D: (at) => two(at.getUTCDate()) },
  month: {
    1: (at) => String(at.getUTCMonth() + 1), 2: (at) => two(at.getUTCMonth() + 1),
    M: (at) => names.M[at.getUTCMonth()], L: (at) => names.L[at.getUTCMonth()], m: (at) => names.m[at.getUTCMonth()], l: (at) => names.l[at.getUTCMonth()],
  },
  year: { y: (at) => String(at.getUTCFullYear()), Y: (at) => two(at.getUTCFullYear() % 100) },
  weekday: { W: (at) => names.W[at.getUTCDay()], w: (at) => names.w[at.getUTCDay()], V: (at) => names.V[at.getUTCDay()], v: (at) => names.v[at.getUTCDay()] },
  hour: {
    h: (at) => String(at.getUTCHours() % 12 || 12), H: (at) => two(at.getUTCHours() % 12 || 12), j: (at) => String(at.getUTCHours() % 12), J: (at) => two(at.getUTCHours() % 12),
    k: (at) => String(at.getUTCHours()), K: (at) => two(at.getUTCHours()), q: (at) => String(at.getUTCHours() || 24), Q: (at) => two(at.getUTCHours() || 24),
  },
  minute: { i: (at) => two(at.getUTCMinutes()), I: (at) => String(at.getUTCMinutes()) },
  second: { s: (at) => two(at.getUTCSeconds()), S: (at) => String(at.getUTCSeconds()) },
  dayPeriod: { a: (at) => names.a[at.getUTCHours()], b: (at) => names.b[at.getUTCHours()] },
  timeZoneName: { z: () => undefined },
});

const patternOf = (locale, names, options, instants) => {
  const all = instants.map((at) => dateParts(locale, options, at));
  const known = letters(names);
  return all[0]
    .map(({ type, value }, index) => {
      if (all.some((parts) => parts[index]?.type !== type || parts.length !== all[0].length)) throw new Error(`${locale} ${JSON.stringify(options)}: parts differ`);
      if (type === 'literal') return value;
      if (type === 'timeZoneName') return '{z}';
      const found = Object.entries(known[type] ?? {}).find(([, write]) => all.every((parts, at) => latin(parts[index].value) === write(new Date(instants[at]))));
      if (found === undefined) throw new Error(`${locale} ${JSON.stringify(options)}: ${type} ${value}`);
      return `{${found[0]}}`;
    })
    .join('');
};

const forms = { weekday: [undefined, 'long', 'short'], year: [undefined, 'numeric', '2-digit'], month: [undefined, 'numeric', '2-digit', 'short', 'long'], day: [undefined, 'numeric', '2-digit'] };
const combinations = [];
// In an order in which a pattern precedes those that are derived from it.
for (const weekday of forms.weekday) for (const year of forms.year) for (const month of forms.month) for (const day of forms.day) combinations.push({ weekday, year, month, day });

const clocks = [{}, { minute: 'numeric' }, { minute: '2-digit' }, { minute: 'numeric', second: 'numeric' }, { minute: '2-digit', second: '2-digit' }];

const datesOf = (locale) => {
  const names = namesOf(locale);
  const distinct = [];
  const numberOf = (pattern) => {
    if (!distinct.includes(pattern)) distinct.push(pattern);
    return String.fromCharCode(48 + distinct.indexOf(pattern));
  };
  // Patterns that can be derived from others (by `intl-derive.js`) are left out.
  const written = new Map();
  const dates = combinations.map((options) => {
    const pattern = Object.values(options).every((form) => form === undefined) ? '' : patternOf(locale, names, options, probes);
    const key = (given) => JSON.stringify(Object.values(given).map((form) => form ?? null));
    written.set(key(options), pattern);
    const base = derivedFrom(options);
    return base !== undefined && rewrite(written.get(key(base)), options, base) === pattern ? ' ' : numberOf(pattern);
  }).join('').replace(/ +$/, '');
  const styles = ['full', 'long', 'medium', 'short'].map((dateStyle) => numberOf(patternOf(locale, names, { dateStyle }, probes))).join('');
  let times = '';
  for (const hour12 of [undefined, true, false]) {
    for (const hour of ['numeric', '2-digit']) {
      for (const rest of clocks) times += numberOf(patternOf(locale, names, { hour, ...rest, hour12 }, hours));
    }
    for (const timeStyle of ['full', 'long', 'medium', 'short']) times += numberOf(patternOf(locale, names, { timeStyle, hour12 }, hours));
  }
  times += numberOf(patternOf(locale, names, { minute: '2-digit', second: '2-digit' }, hours));
  // The same times with the name of a zone, which has a pattern of its own.
  for (const hour12 of [undefined, true, false]) {
    for (const hour of ['numeric', '2-digit']) {
      for (const rest of clocks) times += numberOf(patternOf(locale, names, { hour, ...rest, hour12, timeZoneName: 'short' }, hours));
    }
  }
  // 22:10, an hour with two digits on both clocks.
  const at = probes[5] + (22 * 60 + 10) * 60_000;
  const format = (options) => formatter(locale, options).format(at);
  const glue = (date, time) => {
    const [whole, first, last] = [format({ ...date, ...time }), format(date), format(time)];
    const [date0, time0] = [whole.indexOf(first), whole.lastIndexOf(last)];
    if (date0 < 0 || time0 < 0) throw new Error(`${locale}: ${whole} | ${first} | ${last}`);
    // Returns the text between, after and before the two parts, and whether the time comes first.
    const around = (one, oneAt, other, otherAt) => [whole.slice(oneAt + one.length, otherAt), whole.slice(otherAt + other.length), whole.slice(0, oneAt)];
    return date0 < time0 ? around(first, date0, last, time0) : [...around(last, time0, first, date0), 1];
  };
  const clock = { hour: 'numeric', minute: '2-digit' };
  const glues = [
    ...['full', 'long', 'medium', 'short'].map((dateStyle) => glue({ dateStyle }, { timeStyle: 'medium' })),
    glue({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, clock), glue({ year: 'numeric', month: 'long', day: 'numeric' }, clock),
    glue({ year: 'numeric', month: 'short', day: 'numeric' }, clock), glue({ year: 'numeric', month: 'numeric', day: 'numeric' }, clock),
    glue({ weekday: 'long' }, clock),
  ];
  const runs = (table) => table.flatMap((name, hour) => (hour === 0 || table[hour - 1] !== name ? [[hour, name]] : []));
  const zone = valueOf(dateParts(locale, { timeZoneName: 'long' }, at), 'timeZoneName');
  const { hourCycle } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions();
  const short = Object.fromEntries(Object.entries({ ...names, a: undefined, b: undefined }).filter(([, table]) => table).map(([letter, table]) => [letter, table.join('|')]));
  if (short.L === short.M) delete short.L;
  if (short.l === short.m) delete short.l;
  if (short.V === short.W) delete short.V;
  if (short.v === short.w) delete short.v;
  return { names: short, periods: [runs(names.a), ...(names.a.join() === names.b.join() ? [] : [runs(names.b)])], patterns: distinct, dates, styles, times, glues, zone, hours: hourCycle, fraction: valueOf(dateParts(locale, { second: 'numeric', fractionalSecondDigits: 1 }, at), 'literal') };
};

// Returns the parts of one value that another lacks or has differently; undefined if there are none.
const difference = (from, to) => {
  if (JSON.stringify(from) === JSON.stringify(to)) return undefined;
  const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isRecord(from) || !isRecord(to)) return to;
  const found = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    // Null marks a key that is missing.
    const differs = key in to ? difference(from[key], to[key]) : null;
    if (differs !== undefined) found[key] = differs;
  }
  return found;
};

// Digits of numbering systems that are written one for one: the digit zero, or all ten digits.
const digitsOf = {};
for (const system of Intl.supportedValuesOf('numberingSystem')) {
  const digits = Array.from({ length: 10 }, (_, digit) => new Intl.NumberFormat('en', { numberingSystem: system }).format(digit));
  const zero = digits[0].codePointAt(0);
  digitsOf[system] = digits.every((text, digit) => text === String.fromCodePoint(zero + digit)) ? digits[0] : digits.join('');
}
const systemOf = (locale) => new Intl.NumberFormat(locale).resolvedOptions().numberingSystem;
const systemsOf = (locale, plain) => {
  const found = {};
  for (const system of Object.keys(digitsOf)) {
    const differs = difference(plain, numbersOf(locale, system));
    if (differs !== undefined) found[system] = differs;
  }
  return found;
};

const dataOf = (locale) => {
  formatters.clear();
  const plain = numbersOf(locale, 'latn');
  const numbers = { ...plain, native: systemOf(locale), symbols: symbolsOf(locale), systems: systemsOf(locale, plain) };
  return { basic: { numbers, dates: datesOf(locale) }, words: wordsOf(locale), names: displayNamesOf(locale) };
};

const blobs = new Map();
let english;
for (const [language, members] of Object.entries(groups)) {
  const [all, ...others] = members.map((locale) => [locale, dataOf(locale)]);
  if (language === 'en') english = { ...all[1].basic.numbers, systems: undefined };
  for (const part of ['basic', 'words', 'names']) {
    const record = { [all[0]]: all[1][part] };
    for (const [locale, data] of others) record[locale] = difference(all[1][part], data[part]) ?? {};
    blobs.set(`${language}:${part}`, JSON.stringify(record));
  }
}

// Names of time zones that the CLDR knows by another name, as far as this machine has a list of all names.
const zoneNames = fs.readdirSync('/usr/share/zoneinfo', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() || entry.isSymbolicLink())
  .map((entry) => path.relative('/usr/share/zoneinfo', path.join(entry.parentPath, entry.name)))
  .filter((name) => /^[A-Z]/.test(name));
const zoneAliases = {};
for (const name of zoneNames.sort()) {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    if (timeZone !== name) zoneAliases[name] = timeZone;
  } catch {
    // A file that is no zone.
  }
}
blobs.set('en:aliases', JSON.stringify(zoneAliases));
blobs.set('en:zones', JSON.stringify(Object.fromEntries(['en-US', 'en-GB', 'en-CA', 'en-AU', 'en-IN'].map((locale) => [locale, zonesOf(locale)]))));

// Tags that the CLDR resolves to one of these locales.
const same = {};
const capitals = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const allRegions = [...capitals.flatMap((first) => capitals.map((second) => first + second)), '001', '150', '419'];
const allTags = [];
const likely = { 'zh-CN': 'zh', 'zh-Hans': 'zh', 'zh-Hans-CN': 'zh', 'zh-Hant': 'zh-TW', 'zh-Hant-TW': 'zh-TW', 'zh-Hant-HK': 'zh-HK', 'zh-Hans-SG': 'zh-SG', 'no': 'nb' };
for (const [tag, known] of Object.entries(likely)) same[tag] = known;
for (const [language, members] of Object.entries(groups)) {
  for (const region of allRegions) {
    const tag = `${language}-${region}`;
    if (Intl.NumberFormat.supportedLocalesOf([tag]).length === 0 || new Intl.NumberFormat(tag).resolvedOptions().locale !== tag) continue;
    if (members.includes(tag) || tag in same) continue;
    if (new Intl.Locale(language).maximize().region === region) same[tag] = members[0];
    else allTags.push(tag);
  }
}
// Languages that the CLDR has and this data has not.
const lower = capitals.map((letter) => letter.toLowerCase());
const pairs = lower.flatMap((first) => lower.map((second) => first + second));
const otherLanguages = [...pairs, ...pairs.flatMap((pair) => lower.map((letter) => pair + letter))].filter((code) => !(code in groups) && code !== 'no' && Intl.NumberFormat.supportedLocalesOf([code]).length > 0);
blobs.set('values', JSON.stringify({
  // Locales of the languages above, and languages, without data here.
  elsewhere: [...allTags, ...otherLanguages].join(' '),
  digits: digitsOf,
  currencies: currencies.join(' '),
  oldCurrencies: oldCurrencies.join(' '),
  units: simpleUnits.join(' '),
  zones: Intl.supportedValuesOf('timeZone').join(' '),
  calendars: calendars.join(' '),
}));
// Number of decimals of currencies that do not have two.
const digits = {};
for (const currency of [...currencies, ...oldCurrencies]) {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  if (maximumFractionDigits !== 2) digits[currency] = maximumFractionDigits;
}

const head = `// Made by intl-data.mjs from the Unicode CLDR (ICU ${process.versions.icu}), whose terms are in LICENCES.txt.
// The rest of the data is in intl-data.bin, which is read when a script names a locale.
`;
const constants = { groups: Object.fromEntries(Object.entries(groups).map(([language, members]) => [language, members.join(' ')])), sameLocales: same, currencyDigits: digits, englishNumbers: english };
const text = head + Object.entries(constants).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`).join('');

// Returns the packed file: names and positions of the texts, an empty line, and the texts, each compressed with Brotli.
const pack = () => {
  const packed = [...blobs].map(([name, blob]) => [name, zlib.brotliCompressSync(blob, { params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 18, [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } })]);
  let at = 0;
  const index = packed.map(([name, bytes]) => `${name} ${(at += bytes.length) - bytes.length} ${bytes.length}\n`).join('');
  return Buffer.concat([Buffer.from(`${index}\n`), ...packed.map(([, bytes]) => bytes)]);
};
// Returns the texts of a packed file, which are compared: another Node may compress them differently.
const unpack = (bytes) => {
  const end = bytes.indexOf('\n\n');
  const rows = bytes.subarray(0, end).toString().split('\n').map((row) => row.split(' '));
  return rows.map(([name, at, length]) => [name, zlib.brotliDecompressSync(bytes.subarray(end + 2 + Number(at), end + 2 + Number(at) + Number(length))).toString()]);
};

const at = (name) => path.join(import.meta.dirname, name);
if (process.argv.includes('--check')) {
  const isSame = fs.readFileSync(at('src/intl-data.js'), 'utf8') === text && JSON.stringify(unpack(fs.readFileSync(at('intl-data.bin')))) === JSON.stringify([...blobs]);
  if (!isSame) throw new Error('src/intl-data.js and intl-data.bin are not what this Node says');
} else {
  fs.writeFileSync(at('src/intl-data.js'), text);
  fs.writeFileSync(at('intl-data.bin'), pack());
}
const sizes = (part) => [...blobs].filter(([name]) => name.endsWith(part)).reduce((sum, [, blob]) => sum + zlib.brotliCompressSync(blob).length, 0);
console.log(`${locales.length} locales, ${text.length} bytes and ${fs.statSync(at('intl-data.bin')).size}: ${['basic', 'words', 'names', 'values', 'zones'].map((part) => `${part} ${sizes(part)}`).join(', ')}`);
