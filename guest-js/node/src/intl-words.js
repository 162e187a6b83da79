// `Intl.Collator`, `ListFormat`, `RelativeTimeFormat`, `Segmenter`, `DisplayNames`, `Locale`, for English.
import { localeOf, warn } from './intl-locales.js';
import { NumberFormat } from './intl-numbers.js';

// These know English only.
const english = (locales, what) => {
  const { locale } = localeOf(locales);
  if (!locale.startsWith('en')) warn(`Intl has no words for the locale '${locale}' here: ${what}`);
};
// Languages in which letters have another order than in most.
const ordered = ['sv', 'tr', 'pl', 'es', 'ja', 'zh', 'ko', 'ar', 'hi'];

// What the order of words looks at first: letters without accents and case; signs and digits come before letters.
const base = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
const signs = '_-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$';
const rank = (character) => {
  if (/\s/u.test(character)) return 0;
  const sign = signs.indexOf(character);
  if (sign >= 0) return 1 + sign;
  if (/\p{P}|\p{S}/u.test(character)) return 100;
  return /\p{N}/u.test(character) ? 200 : 300;
};
const compareTexts = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const compareBase = (a, b, numeric) => {
  const [x, y] = [numeric ? a.match(/\d+|\D/gu) ?? [] : [...a], numeric ? b.match(/\d+|\D/gu) ?? [] : [...b]];
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] === y[i]) continue;
    if (numeric && /^\d/.test(x[i]) && /^\d/.test(y[i])) {
      const order = compareTexts(BigInt(x[i]), BigInt(y[i]));
      if (order !== 0) return order;
      continue;
    }
    const order = rank(x[i]) - rank(y[i]);
    return order === 0 ? compareTexts(x[i], y[i]) : Math.sign(order);
  }
  return Math.sign(x.length - y.length);
};

export class Collator {
  #o;
  #bound;
  constructor(locales, options = {}) {
    const { usage = 'sort', sensitivity = 'variant', numeric = false, caseFirst = 'false', ignorePunctuation = false } = options;
    const { locale } = localeOf(locales);
    if (ordered.includes(locale.split('-')[0])) warn(`Intl has no order of letters for the locale '${locale}' here: it is that of most languages`);
    const asked = [locales ?? []].flat().some((locale) => /-u(-.*)?-kn(-true)?(-|$)/.test(String(locale)));
    this.#o = { locale: 'en-US', usage, sensitivity, ignorePunctuation, collation: 'default', numeric: numeric || asked, caseFirst };
  }
  get compare() {
    return (this.#bound ??= (a, b) => {
      let [x, y] = [String(a), String(b)];
      if (x === y) return 0;
      if (this.#o.ignorePunctuation) [x, y] = [x, y].map((text) => text.replace(/[\p{P}\s]/gu, ''));
      const { sensitivity, numeric, caseFirst } = this.#o;
      const first = compareBase(base(x), base(y), numeric);
      if (first !== 0 || sensitivity === 'base') return first;
      if (sensitivity !== 'case') {
        const accents = compareTexts(x.normalize('NFD').toLowerCase(), y.normalize('NFD').toLowerCase());
        if (accents !== 0 || sensitivity === 'accent') return accents;
      }
      // Small letters come before capital ones.
      const order = -compareTexts(x.normalize('NFD'), y.normalize('NFD'));
      return caseFirst === 'upper' ? -order : order;
    });
  }
  resolvedOptions() {
    return { ...this.#o };
  }
}

export class ListFormat {
  #o;
  constructor(locales, { type = 'conjunction', style = 'long' } = {}) {
    this.#o = { type, style };
    english(locales, 'lists are written in English');
  }
  formatToParts(list) {
    const items = [...list];
    const { type, style } = this.#o;
    const word = type === 'disjunction' ? 'or' : type === 'unit' ? '' : style === 'long' ? 'and' : style === 'short' ? '&' : '';
    const gap = type === 'unit' && style === 'narrow' ? ' ' : ', ';
    const parts = [];
    items.forEach((value, index) => {
      if (index > 0) {
        const isLast = index === items.length - 1;
        const pair = items.length === 2;
        const between = !isLast || word === '' ? gap : pair ? ` ${word} ` : `, ${word} `;
        parts.push({ type: 'literal', value: between });
      }
      parts.push({ type: 'element', value });
    });
    return parts;
  }
  format(list) {
    return this.formatToParts(list).map((part) => part.value).join('');
  }
  resolvedOptions() {
    return { locale: 'en-US', ...this.#o };
  }
}

const special = {
  day: { '-1': 'yesterday', 0: 'today', 1: 'tomorrow' },
  year: { '-1': 'last year', 0: 'this year', 1: 'next year' },
  quarter: { '-1': 'last quarter', 0: 'this quarter', 1: 'next quarter' },
  month: { '-1': 'last month', 0: 'this month', 1: 'next month' },
  week: { '-1': 'last week', 0: 'this week', 1: 'next week' },
  hour: { 0: 'this hour' },
  minute: { 0: 'this minute' },
  second: { 0: 'now' },
};
const shortUnits = { second: 'sec.', minute: 'min.', hour: 'hr.', day: 'day', week: 'wk.', month: 'mo.', quarter: 'qtr.', year: 'yr.' };
export class RelativeTimeFormat {
  #o;
  constructor(locales, { numeric = 'always', style = 'long' } = {}) {
    this.#o = { numeric, style };
    english(locales, 'relative times are written in English');
  }
  format(value, unit) {
    const plain = String(unit).replace(/s$/, '');
    if (!(plain in special)) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
    const number = Number(value);
    if (this.#o.numeric === 'auto' && Object.hasOwn(special[plain], number)) return special[plain][number];
    const size = new NumberFormat('en-US').format(Math.abs(number));
    const one = size === '1';
    const name = this.#o.style === 'long' ? plain + (one ? '' : 's') : plain === 'day' || plain === 'quarter' ? shortUnits[plain].replace(/(\.?)$/, one ? '$1' : 's$1') : shortUnits[plain];
    return number < 0 || Object.is(number, -0) ? `${size} ${name} ago` : `in ${size} ${name}`;
  }
  formatToParts(value, unit) {
    return [{ type: 'literal', value: this.format(value, unit) }];
  }
  resolvedOptions() {
    return { locale: 'en-US', ...this.#o, numberingSystem: 'latn' };
  }
}

const patterns = {
  word: /[\p{L}\p{N}_]+(?:['’.][\p{L}\p{N}_]+)*|\s+|[^]/gu,
  sentence: /[^.!?]*(?:[.!?]+["')\]]*\s*|$)/gu,
  grapheme: /\r\n|\p{RI}\p{RI}|[^](?:\p{M}|\u200d\p{Extended_Pictographic}\p{M}*|[\u{1f3fb}-\u{1f3ff}]|\ufe0f)*/gu,
};
export class Segmenter {
  #granularity;
  constructor(locales, { granularity = 'grapheme' } = {}) {
    if (!(granularity in patterns)) throw new RangeError(`Value ${granularity} out of range for Intl.Segmenter options property granularity`);
    this.#granularity = granularity;
  }
  segment(input) {
    const text = String(input);
    const granularity = this.#granularity;
    const list = function* () {
      for (const { 0: segment, index } of text.matchAll(patterns[granularity])) {
        if (segment === '') continue;
        const entry = { segment, index, input: text };
        yield granularity === 'word' ? { ...entry, isWordLike: /[\p{L}\p{N}]/u.test(segment) } : entry;
      }
    };
    return {
      [Symbol.iterator]: list,
      containing: (at = 0) => [...list()].find(({ segment, index }) => at >= index && at < index + segment.length),
    };
  }
  resolvedOptions() {
    return { locale: 'en-US', granularity: this.#granularity };
  }
}

// Without data: the code is its own name.
export class DisplayNames {
  #o;
  constructor(locales, options = {}) {
    if (options.type === undefined) throw new TypeError('Required option "type" must not be undefined');
    this.#o = { type: options.type, fallback: options.fallback ?? 'code' };
  }
  of(code) {
    return this.#o.fallback === 'none' ? undefined : String(code);
  }
  resolvedOptions() {
    return { locale: 'en-US', ...this.#o };
  }
}

export class Locale {
  #tag;
  constructor(tag) {
    this.#tag = String(tag);
  }
  get baseName() {
    return this.#tag.replace(/-u-.*$/, '');
  }
  get language() {
    return this.#tag.split('-')[0];
  }
  get region() {
    return /-([A-Z]{2}|\d{3})(-|$)/.exec(this.#tag)?.[1];
  }
  toString() {
    return this.#tag;
  }
}
