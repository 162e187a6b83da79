// Which data `Intl` has for a locale, and what it says where it has none.
import { localeData, sameLocales } from './intl-data.js';
import { derivedFrom, rewrite } from './intl-derive.js';

const warned = new Set();

// Says once on standard error that something is not written as in Node.
export const warn = (text) => {
  if (warned.has(text)) return;
  warned.add(text);
  host.native.stderr(`Warning: ${text}\n`);
};

const canonical = (tag) => {
  const plain = String(tag);
  if (!/^(?:[a-z]{2,3}|[a-z]{5,8})(?:-[a-z0-9]{1,8})*$/i.test(plain)) throw new RangeError(`Incorrect locale information provided`);
  return plain
    .replace(/-[ux]-.*$/i, '')
    .split('-')
    .map((part, at) => (at === 0 ? part.toLowerCase() : part.length === 4 ? part[0].toUpperCase() + part.slice(1).toLowerCase() : part.length <= 3 ? part.toUpperCase() : part.toLowerCase()))
    .join('-');
};

// The tags that were asked for, as they are written.
export const requested = (locales) => {
  if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
  const list = locales === undefined ? [] : typeof locales === 'string' || !Array.isArray(locales) ? [locales] : locales;
  return list.map((tag) => {
    if (typeof tag !== 'string' && typeof tag !== 'object') throw new TypeError('Incorrect locale information provided');
    return canonical(tag);
  });
};

// The tag under which there is data, if there is any.
const known = (tag) => {
  if (tag === 'en' || tag === 'en-US') return 'en-US';
  if (Object.hasOwn(localeData, tag)) return tag;
  return Object.hasOwn(sameLocales, tag) ? sameLocales[tag] : undefined;
};

export const isKnown = (tag) => known(tag) !== undefined;

const read = new Map();
// `{locale, numbers, dates}` of the first locale that was asked for; no data means that of en-US.
export const localeOf = (locales) => {
  const [tag = 'en-US'] = requested(locales);
  let name = known(tag);
  const extended = [locales ?? []].flat().map(String).find((one) => /-u-(?!kn\b)/i.test(one));
  if (extended !== undefined) warn(`Intl ignores what follows -u- in the locale '${extended}' here`);
  if (name === undefined) {
    name = known(tag.replace(/^(\w+-[A-Z][a-z]+)-.*$/, '$1')) ?? known(tag.split('-')[0]) ?? 'en-US';
    warn(`Intl has no data for the locale '${tag}' here: it is written as '${name}' is`);
  }
  if (name === 'en-US') return { locale: tag === 'en' ? 'en' : 'en-US' };
  if (!read.has(name)) {
    const [numbers, dates] = JSON.parse(localeData[name]);
    read.set(name, { numbers, dates });
  }
  return { locale: isKnown(tag) ? tag : name, ...read.get(name) };
};

const forms = { weekday: [undefined, 'long', 'short'], year: [undefined, 'numeric', '2-digit'], month: [undefined, 'numeric', '2-digit', 'short', 'long'], day: [undefined, 'numeric', '2-digit'] };
// The pattern of a date with these parts.
export const datePattern = (dates, { weekday, year, month, day }) => {
  const options = { weekday, year, month, day };
  const at = Object.entries(forms).reduce((index, [name, list]) => index * list.length + Math.max(list.indexOf(options[name]), 0), 0);
  const mark = dates.dates[at] ?? ' ';
  if (mark !== ' ') return dates.patterns[mark.charCodeAt(0) - 48];
  const base = derivedFrom(options);
  return rewrite(datePattern(dates, base), options, base);
};

// The digits that Arabic is written in.
export const arabicDigits = (text) => text.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)));
