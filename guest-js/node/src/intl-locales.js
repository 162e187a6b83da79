// Resolution of locales for `Intl`, access to their data, and warnings where data is missing.
import { groups, sameLocales } from './intl-data.js';
import { derivedFrom, rewrite } from './intl-derive.js';

const warned = new Set();

// Warns once on standard error that something is not formatted as in Node.
export const warn = (text) => {
  if (warned.has(text)) return;
  warned.add(text);
  host.native.stderr(`Warning: ${text}\n`);
};

// Reads an option of a constructor, which must be one of `values`; any text is valid if there are none.
export const optionOf = (options, name, values, standard, owner) => {
  const given = options[name];
  if (given === undefined) return standard;
  const text = String(given);
  if (values !== undefined && !values.includes(text)) {
    // Methods and `locale` are named as they are, and constructors with the prefix `Intl.`.
    const where = /\.|^locale$/.test(owner) ? owner : `Intl.${owner}`;
    throw new RangeError(`Value ${text} out of range for ${where} options property ${name}`);
  }
  return text;
};

const texts = new Map();
// Returns a text of `intl-data.bin`.
const textOf = (name) => {
  if (!texts.has(name)) texts.set(name, JSON.parse(host.native.localeData(name)));
  return texts.get(name);
};
// Returns the data that does not depend on a locale: digits, currencies, units, zones, and locales without data.
export const values = () => textOf('values');

const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const merged = (from, other) => {
  if (!isRecord(from) || !isRecord(other)) return other;
  const all = { ...from };
  for (const [key, value] of Object.entries(other)) {
    if (value === null) delete all[key];
    else all[key] = key in from ? merged(from[key], value) : value;
  }
  return all;
};

const languageOf = (locale) => locale.split('-')[0];
const read = new Map();
// Returns a part of the data of a locale: `basic`, `words` or `names`.
export const dataOf = (locale, part) => {
  const key = `${locale}:${part}`;
  if (!read.has(key)) {
    const language = languageOf(locale);
    const record = textOf(`${language}:${part}`);
    const first = groups[language].split(' ')[0];
    read.set(key, locale === first ? record[first] : merged(record[first], record[locale]));
  }
  return read.get(key);
};
// Returns the names of time zones in a variant of English; other languages have none.
export const englishZones = (locale) => {
  const all = textOf('en:zones');
  if (all[locale] === undefined && locale.startsWith('en-')) warn(`Intl has no names of time zones for the locale '${locale}' here: they are those of en-GB`);
  return all[locale] ?? all[locale.startsWith('en-') ? 'en-GB' : 'en-US'];
};
// Returns the name of a zone that the names of zones are filed under; null for null.
export const zoneNamed = (name) => (name === 'UTC' || name == null ? name : (textOf('en:aliases')[name] ?? name));
const made = new Map();
// Returns the cached result of `make` for a locale, or calls it.
export const onceFor = (kind, locale, make) => {
  const key = `${kind}:${locale}`;
  if (!made.has(key)) made.set(key, make());
  return made.get(key);
};

const aliases = { iw: 'he', in: 'id', ji: 'yi', jw: 'jv', mo: 'ro', sh: 'sr-Latn', tl: 'fil' };
const tagPattern = /^(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{5,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*(?:-x(?:-[a-z\d]{1,8})+)?$/i;

const canonical = (tag) => {
  const plain = String(tag);
  if (!tagPattern.test(plain)) throw new RangeError(`Incorrect locale information provided`);
  const [, base, extension = ''] = /^(.*?)((?:-[a-z\d](?:-.*)?)?)$/i.exec(plain.replace(/-([a-z\d])-/i, '-$1-'));
  const parts = base.split('-').map((part, at) => {
    if (at === 0) return aliases[part.toLowerCase()] ?? part.toLowerCase();
    if (part.length === 4 && !/^\d/.test(part)) return part[0].toUpperCase() + part.slice(1).toLowerCase();
    return part.length <= 3 ? part.toUpperCase() : part.toLowerCase();
  });
  return parts.join('-') + sorted(extension.toLowerCase());
};

// Sorts the extensions of a tag by their letters, with private ones last.
const sorted = (extension) => {
  const [, open, own = ''] = /^(.*?)(-x-.*)?$/.exec(extension);
  const list = open.split(/(?=-[a-z\d]-)/).filter(Boolean);
  return list.sort((a, b) => (a[1] < b[1] ? -1 : 1)).map(sortedKeys).join('') + own;
};
// Sorts the keywords after `-u-` by their keys.
const sortedKeys = (extension) =>
  extension.replace(/^-u((?:-[a-z\d]{2,8})+)/, (all, rest) => {
    const [head, ...keys] = rest.split(/(?=-[a-z\d]{2}(?:-|$))/);
    const isKey = /^-[a-z\d]{2}(-|$)/.test(head);
    const list = (isKey ? [head, ...keys] : keys).map((key) => key.replace(/-true$/, '')).sort((a, b) => (a.slice(0, 3) < b.slice(0, 3) ? -1 : 1));
    return `-u${isKey ? '' : head}${list.join('')}`;
  });

// Returns the elements of a list of locales, which may be any object; it is not iterated over.
const listed = (list) => {
  const length = Math.min(Math.max(Math.trunc(Number(list.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
  const elements = [];
  for (let at = 0; at < length; at++) if (at in list) elements.push(list[at]);
  return elements;
};

// Returns the requested tags in canonical form.
export const requested = (locales) => {
  if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
  const isOne = typeof locales === 'string' || (typeof locales === 'object' && locales?.[Symbol.toStringTag] === 'Intl.Locale');
  const list = locales === undefined ? [] : isOne ? [locales] : listed(Object(locales));
  const tags = list.map((tag) => {
    if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('Language ID should be string or object.');
    return canonical(tag);
  });
  return [...new Set(tags)];
};

// Returns the tag without its extensions, and the keywords after `-u-`.
const split = (tag) => {
  const at = tag.search(/-[a-z\d]-/);
  const keywords = {};
  const extension = /-u-((?:[a-z\d]{2,8}-?)+)/.exec(tag)?.[1] ?? '';
  let key;
  for (const part of extension.split('-').filter(Boolean)) {
    if (part.length === 2) keywords[(key = part)] = '';
    else if (key !== undefined) keywords[key] += (keywords[key] === '' ? '' : '-') + part;
  }
  return { base: at < 0 ? tag : tag.slice(0, at), keywords };
};
export const splitTag = split;

// Returns the locale whose data a tag uses, if there is any.
const known = (tag) => {
  if (Object.hasOwn(sameLocales, tag)) return sameLocales[tag];
  if (tag === 'en') return 'en-US';
  return groups[languageOf(tag)]?.split(' ').includes(tag) ? tag : undefined;
};
const isElsewhere = (tag) => ` ${values().elsewhere} `.includes(` ${tag} `);

// Resolves a tag to `{tag, data}`, or to `{missing}` if the CLDR has the locale and this guest does not; undefined if
// the CLDR lacks it, too.
const lookUp = (base) => {
  for (let tag = base; ; tag = tag.slice(0, tag.lastIndexOf('-'))) {
    const data = known(tag);
    if (data !== undefined) return { tag, data };
    if (isElsewhere(tag)) return { missing: tag };
    if (!tag.includes('-')) return undefined;
  }
};
export const isKnown = (tag) => lookUp(split(tag).base)?.data !== undefined;

// Returns `{locale, data, keywords}` of the first requested locale that is available: its tag, the locale whose data it
// uses, and the keywords after `-u-`. `en-US` if none is available.
export const localeOf = (locales) => {
  if (locales === undefined) return { locale: 'en-US', data: 'en-US', keywords: {} };
  let missing;
  for (const tag of requested(locales)) {
    const { base, keywords } = split(tag);
    const found = lookUp(base);
    if (found?.data === undefined) {
      missing ??= found?.missing;
      continue;
    }
    if (missing !== undefined) warnOf(missing, found.tag);
    return { locale: found.tag, data: found.data, keywords };
  }
  if (missing === undefined) return { locale: 'en-US', data: 'en-US', keywords: {} };
  const data = known(languageOf(missing)) ?? 'en-US';
  warnOf(missing, data);
  return { locale: data, data, keywords: {} };
};
const warnOf = (missing, data) => warn(`Intl has no data for the locale '${missing}' here: it is written as '${data}' is`);

// Returns the numbering system that an option or a keyword selects, and whether the tag named it.
export const numberingSystemOf = (given, keywords, standard) => {
  const known = (name) => name !== undefined && Object.hasOwn(values().digits, name);
  if (given !== undefined) {
    if (!/^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i.test(given)) throw new RangeError(`Invalid numberingSystem : ${given}`);
    const name = given.toLowerCase();
    if (known(name)) return { system: name, isNamed: keywords.nu === name };
    if (name === 'native' || name === 'traditio' || name === 'finance') return { system: standard, isNamed: false };
  }
  return known(keywords.nu) ? { system: keywords.nu, isNamed: true } : { system: standard, isNamed: false };
};

const digitTables = new Map();
// Writes the digits of a text in a numbering system.
export const digitsIn = (text, system) => {
  if (system === 'latn') return text;
  if (!digitTables.has(system)) {
    const zero = values().digits[system];
    const all = [...zero];
    digitTables.set(system, all.length === 10 ? all : Array.from({ length: 10 }, (_, digit) => String.fromCodePoint(zero.codePointAt(0) + digit)));
  }
  return text.replace(/\d/g, (digit) => digitTables.get(system)[digit]);
};

const forms = { weekday: [undefined, 'long', 'short'], year: [undefined, 'numeric', '2-digit'], month: [undefined, 'numeric', '2-digit', 'short', 'long'], day: [undefined, 'numeric', '2-digit'] };
// Returns the pattern of a date with these parts.
export const datePattern = (dates, { weekday, year, month, day }) => {
  const options = { weekday, year, month, day };
  const at = Object.entries(forms).reduce((index, [name, list]) => index * list.length + Math.max(list.indexOf(options[name]), 0), 0);
  const mark = dates.dates[at] ?? ' ';
  if (mark !== ' ') return dates.patterns[mark.charCodeAt(0) - 48];
  const base = derivedFrom(options);
  return rewrite(datePattern(dates, base), options, base);
};
