// `Intl.NumberFormat` and `Intl.PluralRules`: in full for en-US, and what `intl-data.js` has of others.
import { currencyDigits, englishSymbols } from './intl-data.js';
import { arabicDigits, localeOf, warn } from './intl-locales.js';

const currencyNames = { USD: ['US dollar', 'US dollars'], EUR: ['euro', 'euros'], GBP: ['British pound', 'British pounds'], JPY: ['Japanese yen', 'Japanese yen'], CHF: ['Swiss franc', 'Swiss francs'], CAD: ['Canadian dollar', 'Canadian dollars'] };
// Short and narrow marks of units, and whether a space stands before them; long names take an s.
const units = {
  bit: ['bit', 1], byte: ['byte', 1], kilobyte: ['kB', 1], megabyte: ['MB', 1], gigabyte: ['GB', 1], terabyte: ['TB', 1],
  celsius: ['°C', 0], fahrenheit: ['°F', 0], degree: ['deg', 1], percent: ['%', 0],
  meter: ['m', 1], kilometer: ['km', 1], centimeter: ['cm', 1], millimeter: ['mm', 1], mile: ['mi', 1], foot: ['ft', 1], inch: ['in', 1], yard: ['yd', 1],
  gram: ['g', 1], kilogram: ['kg', 1], pound: ['lb', 1], ounce: ['oz', 1], liter: ['L', 1], milliliter: ['mL', 1], gallon: ['gal', 1],
  second: ['sec', 1], millisecond: ['ms', 1], minute: ['min', 1], hour: ['hr', 1], day: ['day', 1], week: ['wk', 1], month: ['mth', 1], year: ['yr', 1],
  'kilometer-per-hour': ['km/h', 1], 'mile-per-hour': ['mph', 1], 'meter-per-second': ['m/s', 1],
};
const spelledUnits = ['bit', 'byte', 'day', 'week', 'month', 'year'];
const scales = [[1e12, 'T', ' trillion'], [1e9, 'B', ' billion'], [1e6, 'M', ' million'], [1e3, 'K', ' thousand']];

const range = (name, value, low, high, standard) => {
  if (value === undefined) return standard;
  const number = Number(value);
  if (!(number >= low && number <= high)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(number);
};

// Digits of a number that is not negative, rounded half away from zero at so many decimals (as it is written).
const fixed = (number, decimals) => {
  const text = String(number);
  if (/^\d+$/.test(text)) return decimals > 0 ? `${text}.${'0'.repeat(decimals)}` : text;
  const [mantissa, exponent = '0'] = text.split('e');
  const [whole, part = ''] = mantissa.split('.');
  const shift = Number(exponent);
  let digits = whole + part;
  let point = whole.length + shift;
  if (point <= 0) {
    digits = '0'.repeat(1 - point) + digits;
    point = 1;
  }
  digits = digits.padEnd(point + decimals + 1, '0');
  const kept = BigInt(digits.slice(0, point + decimals)) + (digits[point + decimals] >= '5' ? 1n : 0n);
  const all = kept.toString().padStart(decimals + 1, '0');
  return decimals > 0 ? `${all.slice(0, -decimals)}.${all.slice(-decimals)}` : all;
};
const trimZeros = (text, least) => {
  if (!text.includes('.')) return least > 0 ? `${text}.${'0'.repeat(least)}` : text;
  let [whole, part] = text.split('.');
  while (part.length > least && part.endsWith('0')) part = part.slice(0, -1);
  return part === '' ? whole : `${whole}.${part}`;
};
const magnitude = (number) => (number === 0 ? 0 : Math.floor(Math.log10(number) + 1e-12));
const significant = (number, least, most) => {
  const decimals = most - 1 - magnitude(Number(number));
  const text = decimals >= 0 ? fixed(number, Math.min(decimals, 100)) : String(BigInt(fixed(Number(number) / 10 ** -decimals, 0)) * 10n ** BigInt(-decimals));
  return trimZeros(text, Math.max(0, least - 1 - magnitude(Number(number))));
};

export class NumberFormat {
  #o;
  // The data of another locale than en-US.
  #l;
  #bound;
  constructor(locales, options = {}) {
    const { locale, numbers } = localeOf(locales);
    this.#l = numbers;
    const { style = 'decimal', currency, notation = 'standard' } = options;
    if (!['decimal', 'currency', 'percent', 'unit'].includes(style)) throw new RangeError(`Value ${style} out of range for Intl.NumberFormat options property style`);
    if (style === 'currency' && currency === undefined) throw new TypeError('Currency code is required with currency style.');
    if (currency !== undefined && !/^[A-Za-z]{3}$/.test(currency)) throw new RangeError(`Invalid currency code : ${currency}`);
    if (style === 'unit' && !(options.unit in units)) throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${options.unit}'`);
    const code = currency?.toUpperCase();
    const ofCurrency = style === 'currency' ? (currencyDigits[code] ?? 2) : undefined;
    const compact = notation === 'compact';
    const given = [range('minimumFractionDigits', options.minimumFractionDigits, 0, 100), range('maximumFractionDigits', options.maximumFractionDigits, 0, 100)];
    let least = ofCurrency ?? 0;
    let most = ofCurrency ?? (style === 'percent' ? 0 : 3);
    if (given[0] !== undefined) [least, most] = [given[0], Math.max(given[0], given[1] ?? most)];
    if (given[1] !== undefined) [least, most] = [Math.min(given[0] ?? least, given[1]), given[1]];
    if (given[0] > given[1]) throw new RangeError('maximumFractionDigits value is out of range.');
    const bySignificance = options.minimumSignificantDigits !== undefined || options.maximumSignificantDigits !== undefined;
    this.#o = {
      style, currency: code, notation, least, most,
      locale,
      currencyDisplay: options.currencyDisplay ?? 'symbol',
      currencySign: options.currencySign ?? 'standard',
      unit: options.unit, unitDisplay: options.unitDisplay ?? 'short',
      compactDisplay: options.compactDisplay ?? 'short',
      signDisplay: options.signDisplay ?? 'auto',
      useGrouping: options.useGrouping === undefined ? (compact ? 'min2' : 'auto') : options.useGrouping === 'false' ? false : options.useGrouping,
      whole: range('minimumIntegerDigits', options.minimumIntegerDigits, 1, 21, 1),
      rounded: compact && !bySignificance && given[0] === undefined && given[1] === undefined,
      significance: bySignificance ? [range('minimumSignificantDigits', options.minimumSignificantDigits, 1, 21, 1), range('maximumSignificantDigits', options.maximumSignificantDigits, 1, 21, 21)] : undefined,
    };
    const isEnglish = numbers === undefined || locale.startsWith('en-');
    if (!isEnglish && (compact || style === 'unit' || options.currencyDisplay === 'name')) {
      warn(`Intl has no words for the locale '${locale}' here: compact numbers, units and names of currencies are English`);
    }
  }
  #digits(number) {
    const o = this.#o;
    if (o.significance) return significant(number, ...o.significance);
    if (o.rounded) return Number(number) >= 100 ? fixed(number, 0) : significant(number, 1, 2);
    return trimZeros(fixed(number, o.most), o.least);
  }
  // The number's own parts, without sign, currency and unit.
  #number(number) {
    const o = this.#o;
    if (number === Infinity) return [['infinity', '∞']];
    let value = number;
    const tail = [];
    if (o.notation === 'compact') {
      let scale = scales.find(([size]) => Number(value) >= size);
      const index = scales.indexOf(scale);
      // 999,999 is 1M, not 1000K.
      if (scale !== undefined && index > 0 && Number(this.#digits(Number(value) / scale[0])) >= 1000) scale = scales[index - 1];
      if (scale === undefined && Number(value) < 1e3 && Number(this.#digits(value)) >= 1000) scale = scales[3];
      if (scale !== undefined) {
        value = Number(value) / scale[0];
        if (o.compactDisplay === 'long') tail.push(['literal', ' '], ['compact', scale[2].trim()]);
        else tail.push(['compact', scale[1]]);
      }
    } else if (o.notation === 'scientific' || o.notation === 'engineering') {
      let exponent = magnitude(Number(value));
      if (o.notation === 'engineering') exponent = Math.floor(exponent / 3) * 3;
      value = Number(value) / 10 ** exponent;
      tail.push(['exponentSeparator', 'E'], ...(exponent < 0 ? [['exponentMinusSign', '-']] : []), ['exponentInteger', String(Math.abs(exponent))]);
    }
    let [whole, part] = this.#digits(value).split('.');
    whole = whole.padStart(o.whole, '0');
    const parts = [];
    const separators = this.#l === undefined ? '.,' : o.style === 'currency' ? this.#l.money : this.#l.separators;
    const least = o.useGrouping === 'min2' ? 2 : o.useGrouping === 'always' || o.useGrouping === true ? 1 : (this.#l?.least ?? 1);
    if (o.useGrouping !== false && whole.length >= 3 + least) {
      const groups = [whole.slice(-3)];
      const size = (o.style === 'currency' && o.currencySign === 'accounting' ? this.#l?.ledger : this.#l?.second) ?? 3;
      for (let at = whole.length - 3; at > 0; at -= size) groups.unshift(whole.slice(Math.max(at - size, 0), at));
      groups.forEach((group, at) => parts.push(...(at > 0 ? [['group', separators.slice(1)]] : []), ['integer', group]));
    } else parts.push(['integer', whole]);
    if (part !== undefined) parts.push(['decimal', separators[0]], ['fraction', part]);
    return [...parts, ...tail];
  }
  #parts(given) {
    const o = this.#o;
    let number = typeof given === 'bigint' ? given : Number(given);
    const isNan = typeof number === 'number' && Number.isNaN(number);
    const negative = number < 0 || Object.is(number, -0);
    if (negative) number = -number;
    if (o.style === 'percent') number = typeof number === 'bigint' ? number * 100n : Number(`${number}e2`) || number * 100;
    let parts = isNan ? [['nan', this.#l?.nan ?? 'NaN']] : this.#number(number);
    const isDigits = /^\d/.test(parts[0][1]);
    const isZero = !parts.some(([, text]) => /[1-9∞]/.test(text));
    if (this.#l !== undefined && o.style !== 'unit') return this.#around(parts, negative, isZero, isNan);
    if (o.style === 'percent') parts.push(['percentSign', '%']);
    if (o.style === 'unit') {
      const [mark, space] = units[o.unit];
      const one = parts.map(([, text]) => text).join('') === '1';
      const long = o.unitDisplay === 'long' && !o.unit.includes('-') && o.unit !== 'percent';
      const name = o.unit === 'celsius' || o.unit === 'fahrenheit' ? `${one ? 'degree' : 'degrees'} ${o.unit[0].toUpperCase()}${o.unit.slice(1)}` : o.unit === 'foot' ? (one ? 'foot' : 'feet') : o.unit === 'inch' ? (one ? 'inch' : 'inches') : o.unit + (one ? '' : 's');
      const short = spelledUnits.includes(o.unit) && !one ? (o.unit === 'bit' || o.unit === 'byte' ? mark : `${mark}s`) : mark;
      if (long) parts.push(['literal', ' '], ['unit', name]);
      else parts.push(...(space && o.unitDisplay !== 'narrow' ? [['literal', ' ']] : []), ['unit', short]);
    }
    if (o.style === 'currency') {
      if (o.currencyDisplay === 'name') {
        const one = parts.map(([, text]) => text).join('') === '1';
        parts.push(['literal', ' '], ['currency', currencyNames[o.currency]?.[one ? 0 : 1] ?? o.currency]);
      } else {
        const symbol = this.#symbol(englishSymbols);
        const gap = !/[\p{S}\p{Z}]$/u.test(symbol) && isDigits ? [['literal', '\u00a0']] : [];
        parts = [['currency', symbol], ...gap, ...parts];
      }
    }
    const show = o.signDisplay === 'always' || (o.signDisplay === 'exceptZero' && !isZero && !isNan);
    if (negative && o.signDisplay !== 'never' && !((o.signDisplay === 'exceptZero' || o.signDisplay === 'negative') && isZero)) {
      return o.style === 'currency' && o.currencySign === 'accounting' ? [['literal', '('], ...parts, ['literal', ')']] : [['minusSign', '-'], ...parts];
    }
    return show ? [['plusSign', '+'], ...parts] : parts;
  }
  #symbol(symbols) {
    const { currency, currencyDisplay } = this.#o;
    const [standard = currency, narrow = standard] = (symbols[currency] ?? '').split(' ').filter(Boolean);
    return currencyDisplay === 'symbol' ? standard : currencyDisplay === 'narrowSymbol' ? narrow : currency;
  }
  // The number with what the locale has around it.
  #around(parts, negative, isZero, isNan) {
    const [o, l] = [this.#o, this.#l];
    const always = o.signDisplay === 'always' || (o.signDisplay === 'exceptZero' && !isZero && !isNan);
    const minus = negative && o.signDisplay !== 'never' && !((o.signDisplay === 'exceptZero' || o.signDisplay === 'negative') && isZero);
    const plus = !minus && always;
    let shapes = l.decimal;
    let symbol;
    if (o.style === 'percent') shapes = l.percent;
    if (o.style === 'currency') {
      symbol = this.#symbol(l.symbols);
      // A word keeps off the number, a sign does not.
      shapes = l.shapes[/[\p{S}\p{Z}]$/u.test(symbol) || !/^\d/.test(parts[0][1]) ? 0 : 1];
    }
    const isLedger = o.style === 'currency' && o.currencySign === 'accounting';
    const shape = shapes[isLedger && minus ? 2 : minus || plus ? 1 : isLedger ? 3 : 0];
    const shown = [...shape.matchAll(/[#¤-]|[%٪]\u061c?|[^#¤%٪-]+/gu)].flatMap(([piece]) => {
      if (piece === '#') return parts;
      if (piece === '¤') return [['currency', symbol]];
      if (piece === '-') return [plus ? ['plusSign', l.plus] : ['minusSign', l.minus]];
      return [[/^[%٪]/.test(piece) ? 'percentSign' : 'literal', piece]];
    });
    return l.arab ? shown.map(([type, text]) => [type, arabicDigits(text)]) : shown;
  }
  get format() {
    return (this.#bound ??= (number) => this.#parts(number).map(([, text]) => text).join(''));
  }
  formatToParts(number) {
    return this.#parts(number).map(([type, value]) => ({ type, value }));
  }
  formatRange(from, to) {
    const [a, b] = [this.format(from), this.format(to)];
    return a === b ? `~${a}` : `${a} – ${b}`.replace(/(\d) – (\d)/, '$1–$2');
  }
  resolvedOptions() {
    const { least, most, whole, significance, rounded, ...rest } = this.#o;
    void rounded;
    const digits = significance === undefined ? { minimumFractionDigits: least, maximumFractionDigits: most } : { minimumSignificantDigits: significance[0], maximumSignificantDigits: significance[1] };
    return { numberingSystem: 'latn', minimumIntegerDigits: whole, ...digits, ...rest };
  }
}

const isBetween = (number, low, high) => number >= low && number <= high;
const ends = (number, low, high) => isBetween(number % 10, low, high) && !isBetween(number % 100, 10 + low, 10 + high);
const slavic = (number, isWhole) => {
  if (!isWhole) return 'other';
  return ends(number, 1, 1) ? 'one' : ends(number, 2, 4) ? 'few' : 'many';
};
// A million and its multiples have a word of their own.
const romance = (isOne) => (number, isWhole) => (isOne(number, isWhole) ? 'one' : isWhole && number !== 0 && number % 1e6 === 0 ? 'many' : 'other');
// The category of a number that is not negative, by language; those that are not here have it from English, or none.
const cardinals = {
  en: [['one', 'other'], (number) => (number === 1 ? 'one' : 'other')],
  fr: [['one', 'many', 'other'], romance((number) => number < 2)],
  pt: [['one', 'many', 'other'], romance((number) => number < 2)],
  'pt-PT': [['one', 'many', 'other'], romance((number) => number === 1)],
  es: [['one', 'many', 'other'], romance((number) => number === 1)],
  it: [['one', 'many', 'other'], romance((number) => number === 1)],
  hi: [['one', 'other'], (number) => (number <= 1 ? 'one' : 'other')],
  ru: [['one', 'few', 'many', 'other'], slavic],
  uk: [['one', 'few', 'many', 'other'], slavic],
  pl: [['one', 'few', 'many', 'other'], (number, isWhole) => (number === 1 ? 'one' : !isWhole ? 'other' : ends(number, 2, 4) ? 'few' : 'many')],
  ar: [['zero', 'one', 'two', 'few', 'many', 'other'], (number, isWhole) =>
    number === 0 ? 'zero' : number === 1 ? 'one' : number === 2 ? 'two' : isWhole && isBetween(number % 100, 3, 10) ? 'few' : isWhole && isBetween(number % 100, 11, 99) ? 'many' : 'other'],
};
for (const language of ['ja', 'zh', 'ko', 'id']) cardinals[language] = [['other'], () => 'other'];

export class PluralRules {
  #type;
  #locale;
  #rule;
  constructor(locales, options = {}) {
    this.#type = options.type ?? 'cardinal';
    this.#locale = localeOf(locales).locale;
    const language = this.#locale.split('-')[0];
    this.#rule = cardinals[this.#locale] ?? cardinals[language] ?? cardinals.en;
    if (this.#type === 'ordinal' && language !== 'en') warn(`Intl has no ordinals for the locale '${this.#locale}' here: they are English`);
  }
  select(given) {
    const number = Math.abs(Number(given));
    if (this.#type === 'cardinal') return this.#rule[1](number, Number.isInteger(number));
    const [ten, hundred] = [number % 10, number % 100];
    if (ten === 1 && hundred !== 11) return 'one';
    if (ten === 2 && hundred !== 12) return 'two';
    if (ten === 3 && hundred !== 13) return 'few';
    return 'other';
  }
  resolvedOptions() {
    const pluralCategories = this.#type === 'ordinal' ? ['few', 'one', 'two', 'other'] : [...this.#rule[0]];
    return { locale: this.#locale, type: this.#type, pluralCategories };
  }
}
