// Makes src/intl-data.js: what `Intl` writes in the locales that scripts name most, asked of the Node that runs this (of CLDR).
// `--check` only compares; another version of ICU writes some of it otherwise.

import fs from 'node:fs';
import path from 'node:path';
import { derivedFrom, rewrite } from './src/intl-derive.js';

const locales = [
  'en-GB', 'en-CA', 'en-AU', 'en-IN', 'de', 'de-AT', 'de-CH', 'fr', 'fr-CA', 'es', 'es-MX', 'it', 'pt', 'pt-PT', 'nl', 'pl', 'ru', 'uk', 'tr', 'ja', 'zh',
  'zh-TW', 'ko', 'ar', 'hi', 'sv', 'id', 'tr-TR', 'ar-EG',
];
const currencies = [
  'USD', 'EUR', 'GBP', 'JPY', 'CNY', 'INR', 'KRW', 'BRL', 'CAD', 'AUD', 'MXN', 'NZD', 'HKD', 'ILS', 'VND', 'TWD', 'PHP', 'XAF', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN',
  'CZK', 'HUF', 'RUB', 'UAH', 'TRY', 'IDR', 'THB', 'SGD', 'MYR', 'ZAR', 'SAR', 'AED', 'EGP', 'ARS', 'CLP', 'COP', 'BGN', 'RON', 'ISK', 'KWD', 'QAR',
  'BHD', 'OMR', 'JOD', 'LBP', 'MAD', 'DZD', 'TND', 'IQD', 'PKR', 'BDT', 'LKR', 'NPR', 'KES', 'NGN', 'GHS', 'PEN', 'UYU',
];

const latin = (text) => text.replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660));
const numberParts = (locale, options, number) => new Intl.NumberFormat(locale, options).formatToParts(number);
const valueOf = (parts, type) => parts.find((part) => part.type === type)?.value;

// The parts around a number: `#` the number itself, `¤` the currency, `-` the sign.
const shapeOf = (parts) =>
  parts
    .map(({ type, value }) => (['integer', 'group', 'decimal', 'fraction'].includes(type) ? '#' : type === 'currency' ? '¤' : type === 'minusSign' ? '-' : value))
    .join('')
    .replace(/#+/g, '#');

const symbolsOf = (locale) => {
  const symbols = {};
  for (const currency of currencies) {
    const shown = (currencyDisplay) => valueOf(numberParts(locale, { style: 'currency', currency, currencyDisplay }, 5), 'currency');
    const [symbol, narrow] = [shown('symbol'), shown('narrowSymbol')];
    if (narrow !== symbol) symbols[currency] = `${symbol} ${narrow}`;
    else if (symbol !== currency) symbols[currency] = symbol;
  }
  return symbols;
};

const numbersOf = (locale) => {
  const plain = numberParts(locale, {}, -1234567.5);
  const money = (currency, number, options) => numberParts(locale, { style: 'currency', currency, ...options }, number);
  const shapes = (currency, options) => [
    shapeOf(money(currency, 5, options)), shapeOf(money(currency, -5, options)), shapeOf(money(currency, -5, { currencySign: 'accounting', ...options })),
    shapeOf(money(currency, 5, { currencySign: 'accounting', ...options })),
  ];
  const symbols = symbolsOf(locale);
  const separators = (parts) => valueOf(parts, 'decimal') + (valueOf(parts, 'group') ?? '');
  const grouped = (number) => numberParts(locale, {}, number).some(({ type }) => type === 'group');
  return {
    separators: separators(plain),
    money: separators(money('EUR', -1234567.5)),
    least: grouped(1234) ? 1 : 2,
    second: valueOf(numberParts(locale, {}, 12345678), 'integer') === '1' ? 2 : 3,
    ledger: valueOf(money('EUR', 12345678, { currencySign: 'accounting' }), 'integer') === '1' ? 2 : 3,
    minus: valueOf(plain, 'minusSign'),
    plus: valueOf(numberParts(locale, { signDisplay: 'always' }, 5), 'plusSign'),
    nan: valueOf(numberParts(locale, {}, NaN), 'nan'),
    arab: new Intl.NumberFormat(locale).resolvedOptions().numberingSystem === 'arab' ? 1 : 0,
    decimal: [shapeOf(numberParts(locale, {}, 5)), shapeOf(numberParts(locale, {}, -5))],
    percent: [shapeOf(numberParts(locale, { style: 'percent' }, 0.5)), shapeOf(numberParts(locale, { style: 'percent' }, -0.5))],
    // Around a sign, and around a word.
    shapes: [shapes('USD', { currencyDisplay: 'narrowSymbol' }), shapes('CHF')],
    symbols,
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
// What a letter of a pattern stands for at an instant.
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
// In such an order that what another pattern follows from comes before it.
for (const weekday of forms.weekday) for (const year of forms.year) for (const month of forms.month) for (const day of forms.day) combinations.push({ weekday, year, month, day });

const clocks = [{}, { minute: 'numeric' }, { minute: '2-digit' }, { minute: 'numeric', second: 'numeric' }, { minute: '2-digit', second: '2-digit' }];

const datesOf = (locale) => {
  const names = namesOf(locale);
  const distinct = [];
  const numberOf = (pattern) => {
    if (!distinct.includes(pattern)) distinct.push(pattern);
    return String.fromCharCode(48 + distinct.indexOf(pattern));
  };
  // Patterns that follow from others (`intl-locales.js` says how) are left out.
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
  // The hour has two digits in either count.
  const at = probes[5] + (22 * 60 + 10) * 60_000;
  const format = (options) => formatter(locale, options).format(at);
  const glue = (date, time) => {
    const [whole, first, last] = [format({ ...date, ...time }), format(date), format(time)];
    const [date0, time0] = [whole.indexOf(first), whole.lastIndexOf(last)];
    if (date0 < 0 || time0 < 0) throw new Error(`${locale}: ${whole} | ${first} | ${last}`);
    // What is between the two, behind them and before them, and whether the time comes first.
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

// Tags that mean the same as one of those.
const others = [
  'de-DE', 'de-LU', 'de-LI', 'de-BE', 'fr-FR', 'fr-BE', 'fr-CH', 'fr-LU', 'es-ES', 'es-AR', 'es-CO', 'es-CL', 'es-PE', 'es-US', 'es-419', 'it-IT', 'it-CH', 'pt-BR', 'pt-AO',
  'nl-NL', 'nl-BE', 'pl-PL', 'ru-RU', 'ru-UA', 'ru-KZ', 'uk-UA', 'tr-TR', 'tr-CY', 'ja-JP', 'zh-CN', 'zh-SG', 'zh-Hans', 'zh-Hans-CN', 'zh-Hant', 'zh-Hant-TW', 'zh-HK', 'ko-KR', 'ar-EG',
  'ar-AE', 'ar-SA', 'ar-MA', 'hi-IN', 'sv-SE', 'sv-FI', 'id-ID', 'en-NZ', 'en-IE', 'en-ZA', 'en-SG', 'en-HK', 'en-PH', 'en-AE', 'en-IL',
];
const dataOf = (locale) => {
  formatters.clear();
  return JSON.stringify([numbersOf(locale), datesOf(locale)]);
};
const data = new Map(locales.map((locale) => [locale, dataOf(locale)]));
const same = {};
for (const tag of others) {
  const { calendar } = new Intl.DateTimeFormat(tag).resolvedOptions();
  let own;
  try {
    own = calendar === 'gregory' ? dataOf(tag) : undefined;
  } catch {
    // A pattern that the data cannot hold: it is another locale's in no case.
  }
  const found = own === undefined ? undefined : [...data].find(([, text]) => text === own);
  if (found !== undefined) same[tag] = found[0];
}
// Decimals of currencies that have not two.
const digits = {};
for (const currency of Intl.supportedValuesOf('currency')) {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  if (maximumFractionDigits !== 2) digits[currency] = maximumFractionDigits;
}
const rows = [...data].map(([locale, text]) => `  '${locale}': ${JSON.stringify(text)},\n`);
const head = `// Made by intl-data.mjs from the Unicode CLDR (ICU ${process.versions.icu}), whose terms are in LICENCES.txt.
// Of each locale: what is around numbers, and patterns of dates. It is read when a script names the locale.
export const sameLocales = ${JSON.stringify(same)};
export const englishSymbols = ${JSON.stringify(symbolsOf('en-US'))};
export const currencyDigits = ${JSON.stringify(digits)};
`;
const text = `${head}export const localeData = {\n${rows.join('')}};\n`;
const file = path.join(import.meta.dirname, 'src', 'intl-data.js');
if (!process.argv.includes('--check')) fs.writeFileSync(file, text);
else if (fs.readFileSync(file, 'utf8') !== text) throw new Error('src/intl-data.js is not what this Node says');
console.log(`${locales.length} locales, ${text.length} bytes`);
