// `Intl.ListFormat`, `RelativeTimeFormat`, `DisplayNames` and `Locale`.
import { dataOf, localeOf, numberingSystemOf, optionOf, requested, splitTag, values } from './intl-locales.js';
import { NumberFormat } from './intl-numbers.js';
import { PluralRules } from './intl-plurals.js';

const displays = ['long', 'short', 'narrow'];
const objectOf = (given) => {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null) throw new TypeError('Incorrect ListFormat information provided');
  return given;
};

// Spanish uses other words for "and" and "or" before words that begin with the same sound.
const spanish = (between, next) => {
  if (between === ' y ' && /^(i|hi(?![ae]))/i.test(next)) return ' e ';
  return between === ' o ' && /^(o|ho|8|11($| ))/i.test(next) ? ' u ' : between;
};

export class ListFormat {
  #o;
  constructor(locales, given) {
    const { locale, data } = localeOf(locales);
    const options = objectOf(given);
    const type = optionOf(options, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction', 'ListFormat');
    this.#o = { locale, type, style: optionOf(options, 'style', displays, 'long', 'ListFormat'), data };
  }
  formatToParts(list) {
    const items = list === undefined ? [] : [...list];
    for (const item of items) if (typeof item !== 'string') throw new TypeError(`Iterable yielded ${String(item)} which is not a string`);
    const { type, style, data } = this.#o;
    const [pair, start, middle, end] = dataOf(data, 'words').lists[type][style];
    return items.flatMap((value, at) => {
      const element = { type: 'element', value };
      if (at === 0) return [element];
      const isLast = at === items.length - 1;
      const between = items.length === 2 ? pair : isLast ? end : at === 1 ? start : middle;
      const literal = isLast && data.startsWith('es') ? spanish(between, value) : between;
      return literal === '' ? [element] : [{ type: 'literal', value: literal }, element];
    });
  }
  format(list) {
    return this.formatToParts(list).map((part) => part.value).join('');
  }
  resolvedOptions() {
    const { locale, type, style } = this.#o;
    return { locale, type, style };
  }
}

const times = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
export class RelativeTimeFormat {
  #o;
  #numbers;
  #plurals;
  constructor(locales, given) {
    const options = given === undefined ? { __proto__: null } : Object(given);
    const { locale, data, keywords } = localeOf(locales);
    const asked = optionOf(options, 'numberingSystem', undefined, undefined, 'RelativeTimeFormat');
    const native = dataOf(data, 'basic').numbers.native;
    const { system, isNamed } = numberingSystemOf(asked, keywords, native);
    const style = optionOf(options, 'style', displays, 'long', 'RelativeTimeFormat');
    const numeric = optionOf(options, 'numeric', ['always', 'auto'], 'always', 'RelativeTimeFormat');
    this.#o = { locale: isNamed ? `${locale}-u-nu-${system}` : locale, style, numeric, data, system };
    this.#numbers = new NumberFormat(data, { numberingSystem: system });
    this.#plurals = new PluralRules(data);
  }
  #parts(given, unit, method) {
    const number = Number(given);
    const name = String(unit).replace(/s$/, '');
    if (!times.includes(name)) throw new RangeError(`Invalid unit argument for Intl.RelativeTimeFormat.prototype.${method}() '${unit}'`);
    if (!Number.isFinite(number)) throw new RangeError(`Value need to be finite number for Intl.RelativeTimeFormat.prototype.${method}()`);
    const { style, numeric, data } = this.#o;
    const [past, future, words] = dataOf(data, 'words').times[style][name];
    const key = Object.is(number, -0) && words['-0'] !== undefined ? '-0' : String(number);
    if (numeric === 'auto' && Object.hasOwn(words, key)) return [{ type: 'literal', value: words[key] }];
    const patterns = number < 0 || Object.is(number, -0) ? past : future;
    const pattern = typeof patterns === 'string' ? patterns : (patterns[this.#plurals.select(Math.abs(number))] ?? patterns.other);
    const digits = this.#numbers.formatToParts(Math.abs(number)).map((part) => ({ ...part, unit: name }));
    return [...pattern.matchAll(/#|[^#]+/gu)].flatMap(([piece]) => (piece === '#' ? digits : [{ type: 'literal', value: piece }]));
  }
  format(value, unit) {
    return this.#parts(value, unit, 'format').map((part) => part.value).join('');
  }
  formatToParts(value, unit) {
    return this.#parts(value, unit, 'formatToParts');
  }
  resolvedOptions() {
    const { locale, style, numeric, system } = this.#o;
    return { locale, style, numeric, numberingSystem: system };
  }
}

const invalidCode = () => new RangeError('invalid_argument');
// Valid forms of codes, by type.
const codeForms = {
  region: [/^([a-z]{2}|\d{3})$/i, (code) => code],
  script: [/^[a-z]{4}$/i, (code) => code],
  currency: [/^[a-z]{3}$/i, (code) => code.toUpperCase()],
  calendar: [/^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i, (code) => code.toLowerCase()],
  dateTimeField: [/^(era|year|quarter|month|weekOfYear|weekday|day|dayPeriod|hour|minute|second|timeZoneName)$/, (code) => code],
};
const typesOfNames = ['language', ...Object.keys(codeForms)];
const isOldCurrency = (code) => ` ${values().oldCurrencies} `.includes(` ${code} `);
const calendarAliases = { gregorian: 'gregory', 'ethiopic-amete-alem': 'ethioaa', 'islamicc': 'islamic-civil' };

export class DisplayNames {
  #o;
  constructor(locales, given) {
    const { locale, data } = localeOf(locales);
    if (typeof given !== 'object' || given === null) throw new TypeError('invalid_argument');
    const option = (name, list, standard) => optionOf(given, name, list, standard, 'DisplayNames');
    const style = option('style', ['narrow', 'short', 'long'], 'long');
    const type = option('type', typesOfNames);
    if (type === undefined) throw new TypeError('invalid_argument');
    const fallback = option('fallback', ['code', 'none'], 'code');
    this.#o = { locale, data, style, type, fallback, languageDisplay: option('languageDisplay', ['dialect', 'standard'], 'dialect') };
  }
  get #names() {
    return dataOf(this.#o.data, 'names');
  }
  // Returns a name in the requested style, from the tables of all styles.
  #styled([long, short, narrow], code) {
    const { style } = this.#o;
    return (style === 'narrow' ? narrow[code] : undefined) ?? (style === 'long' ? undefined : short[code]) ?? long[code];
  }
  #language(code) {
    if (!/^(?!x-)[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*$/i.test(code) && !/^[a-z]{5,8}$/i.test(code)) throw invalidCode();
    const [tag] = requested([code]);
    const [language, ...rest] = tag.split('-');
    const names = this.#names;
    if (rest.some((part) => part.length > 4 || /^\d...$/.test(part))) throw new Error(`Intl has no names of variants of languages here: '${tag}'`);
    const script = rest.find((part) => part.length === 4);
    const region = rest.find((part) => part.length < 4);
    const isDialect = this.#o.languageDisplay === 'dialect';
    // Finds the longest start of the tag with a name of its own; the remaining subtags are appended.
    const starts = [[language, script, region], [language, script], ...(script === undefined ? [] : [[language, region]])];
    const own = isDialect ? starts.map((parts) => parts.filter(Boolean)).find((parts) => parts.length > 1 && this.#styled(names.dialect, parts.join('-')) !== undefined) : undefined;
    const name = own === undefined ? this.#styled(names.language, language) : this.#styled(names.dialect, own.join('-'));
    const left = [script, region].filter((part) => part !== undefined && !own?.includes(part));
    if (left.length === 0) return name;
    if (this.#o.fallback === 'none' && (name === undefined || left.some((part) => this.#known(part === script ? 'script' : 'region', part) === undefined))) return undefined;
    const words = left.map((part) => (part === script ? (names.inside[part] ?? this.#known('script', part)) : this.#styled(names.region, part)) ?? part);
    return names.composed[words.length - 1].replace('{0}', name ?? language).replace('{1}', words[0]).replace('{2}', words[1]);
  }
  #known(type, code) {
    const table = this.#names[type];
    return Array.isArray(table) ? this.#styled(table, code) : table[code];
  }
  of(given) {
    const { type, fallback } = this.#o;
    const code = String(given);
    if (type === 'language') {
      const name = this.#language(code);
      return name ?? (fallback === 'none' ? undefined : requested([code])[0]);
    }
    const [form, write] = codeForms[type];
    if (!form.test(code)) throw invalidCode();
    const written = write(code);
    const name = this.#known(type, calendarAliases[written] ?? written);
    if (name === undefined && type === 'currency' && isOldCurrency(written)) throw new Error(`Intl has no name of the currency '${written}' here`);
    return name ?? (fallback === 'none' ? undefined : written);
  }
  resolvedOptions() {
    const { locale, style, type, fallback, languageDisplay } = this.#o;
    return { locale, style, type, fallback, ...(type === 'language' ? { languageDisplay } : {}) };
  }
}

const isType = /^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i;
// Options that become keywords of a locale, each with the keyword and the valid values.
const keywordsOfLocale = {
  calendar: ['ca', isType], collation: ['co', isType], hourCycle: ['hc', ['h11', 'h12', 'h23', 'h24']],
  caseFirst: ['kf', ['upper', 'lower', 'false']], numeric: ['kn'], numberingSystem: ['nu', isType],
};
const wrongTag = () => new RangeError('Incorrect locale information provided');
// Returns the extensions of a tag: attributes and keywords after `-u-`, and other extensions unchanged.
const extensionsOf = (tag, base) => {
  const [, open, own = ''] = /^(.*?)(-x-.*)?$/.exec(tag.slice(base.length));
  const list = open.split(/(?=-[a-z\d]-)/).filter(Boolean);
  const attributes = /^-u((?:-[a-z\d]{3,8})*)/.exec(list.find((part) => part.startsWith('-u')) ?? '')?.[1] ?? '';
  return { others: list.filter((part) => !part.startsWith('-u')), attributes, own };
};
export class Locale {
  #base;
  #keywords;
  #extensions;
  constructor(tag, given) {
    if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('First argument to Intl.Locale constructor can\'t be empty or missing');
    if (given === null) throw new TypeError('Intl.Locale called on null or undefined');
    const options = given === undefined ? { __proto__: null } : Object(given);
    const [whole] = requested([String(tag)]);
    const { base, keywords } = splitTag(whole);
    let [language, ...rest] = base.split('-');
    const take = (name, pattern, old) => {
      const text = optionOf(options, name, undefined, old, 'locale');
      if (text !== undefined && !pattern.test(text)) throw wrongTag();
      return text;
    };
    const old = { script: rest.find((part) => /^[A-Z][a-z]{3}$/.test(part)), region: rest.find((part) => /^([A-Z]{2}|\d{3})$/.test(part)) };
    language = take('language', /^([a-z]{2,3}|[a-z]{5,8})$/i, language);
    const script = take('script', /^[a-z]{4}$/i, old.script);
    const region = take('region', /^([a-z]{2}|\d{3})$/i, old.region);
    rest = rest.filter((part) => part !== old.script && part !== old.region);
    [this.#base] = requested([[language, script, region, ...rest].filter(Boolean).join('-')]);
    this.#extensions = extensionsOf(whole, base);
    this.#keywords = { ...keywords, ...this.#chosen(options) };
  }
  #chosen(options) {
    const chosen = {};
    for (const [name, [key, values]] of Object.entries(keywordsOfLocale)) {
      if (options[name] === undefined) continue;
      if (name === 'numeric') chosen[key] = options.numeric ? '' : 'false';
      else chosen[key] = optionOf(options, name, Array.isArray(values) ? values : undefined, undefined, 'locale');
      if (values === isType && !isType.test(chosen[key])) throw wrongTag();
      chosen[key] = chosen[key].toLowerCase();
    }
    return chosen;
  }
  get baseName() {
    return this.#base;
  }
  get language() {
    return this.#base.split('-')[0];
  }
  get script() {
    return this.#base.split('-').find((part) => /^[A-Z][a-z]{3}$/.test(part));
  }
  get region() {
    return this.#base.split('-').slice(1).find((part) => /^([A-Z]{2}|\d{3})$/.test(part));
  }
  get calendar() {
    return this.#keywords.ca;
  }
  get collation() {
    return this.#keywords.co;
  }
  get hourCycle() {
    return this.#keywords.hc;
  }
  get caseFirst() {
    return this.#keywords.kf;
  }
  get numeric() {
    return this.#keywords.kn !== undefined && this.#keywords.kn !== 'false';
  }
  get numberingSystem() {
    return this.#keywords.nu;
  }
  maximize() {
    return this.#likely('maximize');
  }
  minimize() {
    return this.#likely('minimize');
  }
  #likely(method) {
    throw Object.assign(new Error(`Intl.Locale.prototype.${method} is not available in Tollhouse: it has no table of likely scripts and regions`), { code: 'ERR_FEATURE_UNAVAILABLE' });
  }
  toString() {
    const { others, attributes, own } = this.#extensions;
    const keywords = Object.entries(this.#keywords).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `-${key}${value === '' ? '' : `-${value}`}`);
    const named = attributes + keywords.join('');
    return this.#base + [...others, ...(named === '' ? [] : [`-u${named}`])].sort().join('') + own;
  }
}

// Returns the values for `Intl.supportedValuesOf`.
export const supportedValues = (key) => {
  const lists = { currency: 'currencies', unit: 'units', timeZone: 'zones' };
  if (Object.hasOwn(lists, key)) return values()[lists[key]].split(' ');
  if (key === 'numberingSystem') return Object.keys(values().digits);
  if (key === 'calendar') return ['gregory'];
  if (key === 'collation') return [];
  throw new RangeError(`Invalid key : ${key}`);
};
