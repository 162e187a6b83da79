// `Intl.NumberFormat`, with the data of `intl-data.mjs`.
import { currencyDigits, englishNumbers } from './intl-data.js';
import { rate } from './intl-derive.js';
import { decimalOf, digitOptions, isZero, magnitude, resolvedDigits, resolvedRounding, roundedBy, shifted } from './intl-digits.js';
import { dataOf, digitsIn, localeOf, numberingSystemOf, onceFor, optionOf, values, warn } from './intl-locales.js';
import { cardinalRule, operands } from './intl-plurals.js';

// Returns true if a currency symbol touches the number without a space, because the character on the side of the number
// is not a letter.
const isMark = (symbol, isBehind) => (isBehind ? /^[\p{S}\p{Z}]/u : /[\p{S}\p{Z}]$/u).test(symbol);
const isBehind = (shape) => shape.indexOf('¤') > shape.indexOf('#');
const numbersOf = (data, system) =>
  onceFor(`numbers ${system}`, data, () => {
    const plain = data === 'en-US' ? englishNumbers : dataOf(data, 'basic').numbers;
    if (system === 'latn') return plain;
    return { ...plain, ...dataOf(data, 'basic').numbers.systems[system] };
  });
const hasUnit = (unit) => ` ${values().units} `.includes(` ${unit} `);
const isOld = (currency) => ` ${values().oldCurrencies} `.includes(` ${currency} `);
const codeUnits = /^[a-z]+(-[a-z]+)*$/;

const checkUnit = (unit) => {
  if (unit === undefined) return undefined;
  const text = String(unit);
  const parts = text.split('-per-');
  const known = codeUnits.test(text) && parts.length <= 2 && parts.every(hasUnit);
  if (!known) throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${text}'`);
  return text;
};

const groupingOf = (given, isCompact) => {
  const standard = isCompact ? 'min2' : 'auto';
  if (given === undefined) return standard;
  if (given === true || given === false) return given ? 'always' : false;
  const text = String(given);
  if (given === null || given === 0 || given === '' || Number.isNaN(given)) return false;
  if (text === 'true' || text === 'false') return standard;
  if (!['min2', 'auto', 'always'].includes(text)) throw new RangeError(`Value ${text} out of range for Intl.NumberFormat options property useGrouping`);
  return text;
};

// Splits a minus sign from the directional marks around it.
const minusOf = (text) => [...text.matchAll(/[-\u2212]|[^-\u2212]+/gu)].map(([piece]) => [/[-\u2212]/.test(piece) ? 'exponentMinusSign' : 'literal', piece]);

// Splits a currency symbol from a directional mark after it.
const symbolParts = (symbol) => (symbol.endsWith('\u200f') ? [['currency', symbol.slice(0, -1)], ['literal', '\u200f']] : [['currency', symbol]]);
// Joins adjacent literal texts to one part.
const merged = (parts) =>
  parts.reduce((all, [type, text]) => {
    if (type === 'literal' && all.at(-1)?.[0] === 'literal') all.push(['literal', all.pop()[1] + text]);
    else all.push([type, text]);
    return all;
  }, []);

// Returns the pattern of a plural category; a single text stands for all categories.
const ofCategory = (patterns, category) => (typeof patterns === 'string' ? patterns : (patterns[category] ?? patterns.other));

// Returns the parts of a range pattern: numbers (`#`) and a currency (`¤`), which belongs to one of the numbers if each
// has one.
const rangeParts = (pattern, ends, symbol, sources) => {
  const isEach = pattern.split('¤').length - 1 === ends.length;
  const seen = { '#': 0, '¤': 0 };
  return [...pattern.matchAll(/[#¤]|[%٪]+|[^#¤%٪]+/gu)].flatMap(([piece]) => {
    if (piece === '#') {
      const at = seen['#']++;
      return ends[at].map(([type, value]) => ({ type, value, source: sources[at] }));
    }
    if (piece === '¤') return [{ type: 'currency', value: symbol, source: isEach ? sources[seen['¤']++] : 'shared' }];
    if (/[%٪]/.test(piece)) return [{ type: 'percentSign', value: piece, source: 'shared' }];
    return [{ type: ends.length === 1 && /[~≈≃約约]/u.test(piece) ? 'approximatelySign' : 'literal', value: piece, source: 'shared' }];
  });
};

export class NumberFormat {
  #o;
  #l;
  #bound;
  constructor(locales, given, owner = 'NumberFormat') {
    const options = given === undefined ? { __proto__: null } : Object(given);
    if (given === null) throw new TypeError('Cannot convert undefined or null to object');
    const { locale, data, keywords } = localeOf(locales);
    const option = (name, list, standard) => optionOf(options, name, list, standard, owner);
    const asked = option('numberingSystem');
    const standard = data === 'en-US' ? 'latn' : dataOf(data, 'basic').numbers.native;
    const { system, isNamed } = asked === undefined && keywords.nu === undefined ? { system: standard, isNamed: false } : numberingSystemOf(asked, keywords, standard);
    const style = option('style', ['decimal', 'percent', 'currency', 'unit'], 'decimal');
    const currency = option('currency');
    if (currency !== undefined && !/^[a-z]{3}$/i.test(currency)) throw new RangeError(`Invalid currency code : ${currency}`);
    if (style === 'currency' && currency === undefined) throw new TypeError('Currency code is required with currency style.');
    const currencyDisplay = option('currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol');
    const currencySign = option('currencySign', ['standard', 'accounting'], 'standard');
    const unit = checkUnit(option('unit'));
    if (style === 'unit' && unit === undefined) throw new TypeError("Invalid unit argument for Intl.NumberFormat() ''");
    const unitDisplay = option('unitDisplay', ['short', 'narrow', 'long'], 'short');
    const notation = option('notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
    const code = currency?.toUpperCase();
    const isMoney = style === 'currency';
    const places = isMoney ? (currencyDigits[code] ?? 2) : 0;
    const digits = digitOptions(options, places, isMoney ? places : style === 'percent' ? 0 : 3, notation === 'compact', owner);
    const compactDisplay = option('compactDisplay', ['short', 'long'], 'short');
    const useGrouping = groupingOf(options.useGrouping, notation === 'compact');
    const signDisplay = option('signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto');
    this.#l = numbersOf(data, system);
    this.#o = {
      locale: isNamed ? `${locale}-u-nu-${system}` : locale, data, system, style, currency: isMoney ? code : undefined, currencyDisplay,
      // Without signs, the accounting format is the standard one.
      currencySign: signDisplay === 'never' ? 'standard' : currencySign, unit, unitDisplay, notation,
      compactDisplay, useGrouping, signDisplay, digits,
    };
  }
  get #words() {
    return dataOf(this.#o.data, 'words');
  }
  // Returns the power of ten by which a compact number of this size is divided, and the patterns for the result.
  #scale(power) {
    const o = this.#o;
    if (power < 3) return [0, '#'];
    const table = this.#words[o.style === 'currency' && o.currencyDisplay !== 'name' ? 'money' : o.compactDisplay];
    return table[Math.min(power, 20)];
  }
  // Returns the rounded number: its digits, the power of ten by which it is divided, and the patterns of a compact
  // number.
  #scaled(number) {
    const { notation, digits } = this.#o;
    const powerOf = (value) => {
      const size = magnitude(value);
      if (notation === 'compact') return this.#scale(size)[0];
      if (notation === 'engineering') return Math.floor(size / 3) * 3;
      return notation === 'scientific' ? size : 0;
    };
    let power = powerOf(number);
    let found = roundedBy(shifted(number, -power), digits);
    if (power === 0 && notation === 'standard') return { ...found, power };
    const size = magnitude(found.value) + power;
    // 999,999 rounds to 1M, not to 1000K.
    if (!isZero(found.value) && size !== magnitude(number)) {
      power = powerOf({ digits: '1', point: size + 1 });
      found = roundedBy(shifted(number, -power), digits);
    }
    return { ...found, power, patterns: notation === 'compact' && !isZero(number) ? this.#scale(magnitude(found.value) + power)[1] : '#' };
  }
  #grouped(whole) {
    const o = this.#o;
    const isMoney = o.style === 'currency';
    const separator = (isMoney ? this.#l.money : this.#l.separators).slice(1);
    const least = o.useGrouping === 'min2' ? 2 : o.useGrouping === 'always' ? 1 : this.#l.least;
    if (o.useGrouping === false || separator === '' || whole.length < 3 + least) return [['integer', whole]];
    const groups = [whole.slice(-3)];
    const size = isMoney && o.currencySign === 'accounting' && o.currencyDisplay !== 'name' ? this.#l.ledger : this.#l.second;
    for (let at = whole.length - 3; at > 0; at -= size) groups.unshift(whole.slice(Math.max(at - size, 0), at));
    return groups.flatMap((group, at) => (at > 0 ? [['group', separator], ['integer', group]] : [['integer', group]]));
  }
  // Returns the parts of the number without sign, currency and unit, and its plural category.
  #number(number) {
    const o = this.#o;
    if (number.special !== undefined) return { parts: [[number.special, number.special === 'nan' ? this.#l.nan : this.#l.infinity]], category: 'other', isZero: false };
    const { value, whole, part, power, patterns } = this.#scaled(number);
    const parts = this.#grouped(whole);
    if (part !== '') parts.push(['decimal', (o.style === 'currency' ? this.#l.money : this.#l.separators)[0]], ['fraction', part]);
    if (o.notation === 'scientific' || o.notation === 'engineering') {
      parts.push(['exponentSeparator', this.#l.exponent], ...(power < 0 ? minusOf(this.#l.exponentMinus) : []), ['exponentInteger', String(Math.abs(power))]);
    }
    const category = this.#category(whole, part, power);
    if (o.notation !== 'compact') return { parts, category, isZero: isZero(value) };
    // The word of a compact number agrees with the number as it is written.
    const own = cardinalRule(o.data)(operands(whole, part));
    const ofWord = own === 'one' ? own : cardinalRule(o.data)(operands(whole, part, power));
    return { parts: this.#compacted(parts, patterns, ofWord, whole === '1' && part === ''), category, isZero: isZero(value) };
  }
  // Returns the plural category of a number that is divided by a power of ten.
  #category(whole, part, power) {
    if (power <= 0) return cardinalRule(this.#o.data)(operands(whole, part));
    const { digits, point } = shifted(decimalOf(part === '' ? whole : `${whole}.${part}`), power);
    const all = point > 0 ? [digits.slice(0, point).padEnd(point, '0'), digits.slice(point)] : ['0', '0'.repeat(-point) + digits];
    return cardinalRule(this.#o.data)(operands(all[0], all[1], this.#o.notation === 'compact' ? power : 0));
  }
  #compacted(parts, patterns, category, isOne) {
    const pattern = isOne && patterns['=1'] !== undefined ? patterns['=1'] : ofCategory(patterns, category);
    return this.#filled(pattern, parts, 'compact');
  }
  // Returns a pattern with the number and the currency inserted.
  #filled(pattern, parts, type) {
    const symbol = pattern.includes('¤') ? this.#symbol() : '';
    const isApart = symbol !== '' && !isMark(symbol, false);
    return [...pattern.matchAll(/[#¤]|\{([^}]*)\}|[^#¤{]+/gu)].flatMap(([piece, word], at, all) => {
      if (piece === '#') return parts;
      if (piece === '¤') return [...symbolParts(symbol), ...(isApart && all[at + 1]?.[0] === '#' ? [['literal', '\u00a0']] : [])];
      return [[word === undefined ? 'literal' : type, word ?? piece]];
    });
  }
  #parts(given) {
    const o = this.#o;
    const number = decimalOf(given);
    const size = { ...number, negative: false };
    // The direction of rounding may depend on the sign.
    const { parts, category, isZero: isNothing } = this.#number(o.style === 'percent' ? shifted(o.digits.mode === 'halfExpand' ? size : number, 2) : o.digits.mode === 'halfExpand' ? size : number);
    const hidden = o.signDisplay === 'never' || ((o.signDisplay === 'exceptZero' || o.signDisplay === 'negative') && isNothing);
    const minus = number.negative && !hidden;
    const always = o.signDisplay === 'always' || (o.signDisplay === 'exceptZero' && !isNothing && number.special !== 'nan');
    const shown = merged(this.#withWords(this.#around(parts, minus, !minus && always), category));
    if (o.system === 'latn') return shown;
    return shown.map(([type, text]) => [type, type === 'integer' || type === 'fraction' || type === 'exponentInteger' ? digitsIn(text, o.system) : text]);
  }
  #symbol() {
    const { currency, currencyDisplay } = this.#o;
    const [standard = currency, narrow = standard] = (this.#l.symbols[currency] ?? '').split(' ').filter(Boolean);
    return currencyDisplay === 'symbol' ? standard : currencyDisplay === 'narrowSymbol' ? narrow : currency;
  }
  // Returns the number with its sign, and with the percent sign or the currency.
  #around(parts, minus, plus) {
    const [o, l] = [this.#o, this.#l];
    // A compact amount includes its currency already.
    const isMoney = o.style === 'currency' && o.currencyDisplay !== 'name' && !parts.some(([type]) => type === 'currency');
    let shapes = o.style === 'percent' && o.notation !== 'compact' ? l.percent : l.decimal;
    let symbol;
    if (isMoney) {
      symbol = this.#symbol();
      // A word is separated from the number, and a sign is not.
      shapes = l.shapes[isMark(symbol, isBehind(l.shapes[1][0])) || !/^\d/.test(parts[0][1]) ? 0 : 1];
    }
    const isLedger = isMoney && o.currencySign === 'accounting';
    const shape = shapes[isLedger && minus ? 2 : minus || plus ? 1 : isLedger ? 3 : 0];
    return [...shape.matchAll(/[#¤%٪-]|[^#¤%٪-]+/gu)].flatMap(([piece]) => {
      if (piece === '#') return parts;
      if (piece === '¤') return symbolParts(symbol);
      if (piece === '-') return [plus ? ['plusSign', l.plus] : ['minusSign', l.minus]];
      return [[/^[%٪]/.test(piece) ? 'percentSign' : 'literal', piece]];
    });
  }
  // Returns the number with the words of a unit or a currency.
  #withWords(parts, category) {
    const o = this.#o;
    const isShare = o.style === 'percent' && o.notation === 'compact';
    if (o.style === 'unit' || isShare) return this.#filled(isShare ? this.#words.share : ofCategory(this.#unit(), category), parts, 'unit');
    if (o.style !== 'currency' || o.currencyDisplay !== 'name') return parts;
    const { names, shape } = this.#words.amounts;
    if (names[o.currency] === undefined && isOld(o.currency)) warn(`Intl has no name of the currency '${o.currency}' here`);
    const name = ofCategory(names[o.currency] ?? o.currency, category);
    return [...ofCategory(shape, category).matchAll(/[#¤]|[^#¤]+/gu)].flatMap(([piece]) => (piece === '#' ? parts : [[piece === '¤' ? 'currency' : 'literal', piece === '¤' ? name : piece]]));
  }
  #unit() {
    const { unit, unitDisplay } = this.#o;
    const [first, second] = unit.split('-per-');
    const simple = this.#words.units[unitDisplay][first];
    if (second === undefined) return simple;
    const { around, exceptions } = this.#words.rates[unitDisplay];
    const found = exceptions[unit] ?? rate(simple, around[second]);
    if (found === undefined) throw new Error(`Intl has no words for the unit '${unit}' here`);
    return found;
  }
  get format() {
    return (this.#bound ??= { '': (number) => this.#parts(number).map(([, text]) => text).join('') }['']);
  }
  formatToParts(number) {
    return this.#parts(number).map(([type, value]) => ({ type, value }));
  }
  formatRange(from, to) {
    return this.#range(from, to).map(({ value }) => value).join('');
  }
  formatRangeToParts(from, to) {
    return this.#range(from, to);
  }
  // Returns the parts of a range, each with its source.
  #range(from, to) {
    for (const [name, value] of [['start', from], ['end', to]]) if (value === undefined) throw new TypeError(`Invalid ${name} : undefined`);
    const [a, b] = [decimalOf(from), decimalOf(to)];
    for (const [name, { special }] of [['start', a], ['end', b]]) if (special === 'nan') throw new RangeError(`Invalid ${name} : NaN`);
    const o = this.#o;
    const isPlain = o.notation === 'standard' && o.style !== 'unit' && !(o.style === 'currency' && o.currencyDisplay === 'name') && !a.negative && !b.negative;
    if (!isPlain || o.signDisplay !== 'auto' || o.currencySign === 'accounting' || a.special || b.special) return this.#ends(from, to);
    const isDigit = ['integer', 'fraction'];
    const ends = [a, b].map((number) =>
      this.#number(o.style === 'percent' ? shifted(number, 2) : number).parts.map(([type, text]) => [type, isDigit.includes(type) ? digitsIn(text, o.system) : text]),
    );
    const texts = ends.map((parts) => parts.map(([, text]) => text).join(''));
    const symbol = o.style === 'currency' ? this.#symbol() : '';
    const { ranges } = this.#words;
    const money = isMark(symbol, isBehind(ranges.word[0])) ? ([...symbol].length === 1 ? ranges.mark : ranges.long) : ranges.word;
    const [between, about] = o.style === 'currency' ? money : ranges[o.style];
    return texts[0] === texts[1] ? rangeParts(about, [ends[0]], symbol, ['shared']) : rangeParts(between, ends, symbol, ['startRange', 'endRange']);
  }
  // Returns the parts of a range as its two ends, although Node writes a part that the ends share only once.
  #ends(from, to) {
    warn('Intl writes ranges of numbers with words or negative numbers here as their two ends');
    const side = (value, source) => this.formatToParts(value).map((part) => ({ ...part, source }));
    return [...side(from, 'startRange'), { type: 'literal', value: ' – ', source: 'shared' }, ...side(to, 'endRange')];
  }
  resolvedOptions() {
    const o = this.#o;
    return {
      locale: o.locale, numberingSystem: o.system, style: o.style,
      ...(o.style === 'currency' ? { currency: o.currency, currencyDisplay: o.currencyDisplay, currencySign: o.currencySign } : {}),
      ...(o.style === 'unit' ? { unit: o.unit, unitDisplay: o.unitDisplay } : {}),
      ...resolvedDigits(o.digits), useGrouping: o.useGrouping, notation: o.notation, ...(o.notation === 'compact' ? { compactDisplay: o.compactDisplay } : {}),
      signDisplay: o.signDisplay, ...resolvedRounding(o.digits),
    };
  }
}
