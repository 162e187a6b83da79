// Data of `Intl` that consists of words in a locale, taken from the Node that runs this program (and so from the CLDR):
// units, compact numbers, lists, relative times, and names of currencies, languages, regions and scripts.
// `intl-data.mjs` writes it to files.

import { rate } from './src/intl-derive.js';

// Numbers that cover every plural category of every locale.
const candidates = [0, 1, 2, 3, 5, 7, 11, 100, 1e6, 1.5, 0.5, 21, 22, 25, 13, 8];
const numberTypes = new Set(['integer', 'group', 'decimal', 'fraction', 'minusSign', 'nan', 'infinity']);
const valueOf = (parts, type) => parts.find((part) => part.type === type)?.value;

// Returns text with `#` for the number, and `{…}` around parts that have a type of their own.
const patternOf = (parts, typed = []) =>
  parts
    .map(({ type, value }) => (numberTypes.has(type) ? '#' : type === 'currency' && !typed.includes('currency') ? '¤' : typed.includes(type) ? `{${value}}` : value))
    .join('')
    .replace(/#+/g, '#');

const one = (values) => {
  const list = Object.values(values);
  return list.every((value) => value === list[0]) ? list[0] : values;
};

// Returns the pattern of each plural category, or one text if they are all the same.
const byCategory = (locale, partsOf, typed) => {
  const rules = new Intl.PluralRules(locale);
  const patterns = {};
  for (const category of rules.resolvedOptions().pluralCategories) {
    const number = candidates.find((candidate) => rules.select(candidate) === category);
    if (number === undefined) throw new Error(`${locale}: no number is ${category}`);
    patterns[category] = patternOf(partsOf(number), typed);
  }
  return one(patterns);
};

export const simpleUnits = Intl.supportedValuesOf('unit');
const displays = ['long', 'short', 'narrow'];
const unitParts = (locale, unit, unitDisplay, number) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }).formatToParts(number);

// Returns the text after (or before) a unit that is divided by this one: ` per week` of `kilometer-per-week`.
const unitsOf = (locale) =>
  Object.fromEntries(
    displays.map((display) => [
      display,
      Object.fromEntries(simpleUnits.map((unit) => [unit, byCategory(locale, (number) => unitParts(locale, unit, display, number), ['unit'])])),
    ]),
  );
// Units that scripts divide by others. Other combinations are refused.
const numerators = [
  'bit', 'byte', 'kilobit', 'kilobyte', 'megabit', 'megabyte', 'gigabit', 'gigabyte', 'meter', 'kilometer', 'mile', 'foot', 'liter', 'milliliter', 'gallon', 'gram', 'kilogram',
  'celsius', 'minute', 'hour', 'day',
];
const denominators = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year', 'kilometer', 'mile', 'liter', 'gallon', 'kilogram'];
// Returns the texts before and after each unit that others are divided by, and the combinations that do not follow from
// them.
const ratesOf = (locale, units) =>
  Object.fromEntries(
    displays.map((display) => {
      const pattern = (unit) => byCategory(locale, (number) => unitParts(locale, unit, display, number), ['unit']);
      const text = (patterns) => (typeof patterns === 'string' ? patterns : patterns.other);
      const around = {};
      const exceptions = {};
      for (const second of denominators) {
        const [whole, part] = [text(pattern(`gram-per-${second}`)), text(units[display].gram)];
        // The two texts form one part where they touch.
        const found = [[part, ''], [part.slice(0, -1), '}'], [part.slice(1), '{']].map(([inner, edge]) => [whole.indexOf(inner), inner, edge]).find(([at]) => at >= 0);
        if (found !== undefined) {
          const [at, inner, edge] = found;
          around[second] = [whole.slice(0, at) + (edge === '{' ? '}' : ''), (edge === '}' ? '{' : '') + whole.slice(at + inner.length)];
        }
        for (const first of numerators.filter((name) => name !== second)) {
          const right = pattern(`${first}-per-${second}`);
          if (JSON.stringify(right) !== JSON.stringify(rate(units[display][first], around[second]))) exceptions[`${first}-per-${second}`] = right;
        }
      }
      return [display, { around, exceptions }];
    }),
  );

// Returns true for languages in which millions have a plural category of their own.
const hasMillions = (locale) => /^(fr|es|it|pt|ca)\b/.test(locale);
// Returns, for each power of ten from 3 on, the power by which the number is divided, and the pattern; after `=1`, the
// text for exactly 1 if it differs.
const compactOf = (locale, options) => {
  const found = {};
  const rules = new Intl.PluralRules(locale);
  const format = new Intl.NumberFormat(locale, { notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 1, useGrouping: false, ...options });
  const divisor = (power) => power - (valueOf(format.formatToParts(2 * 10 ** power), 'integer') ?? '').length + 1;
  for (let power = 3; power <= 20; power++) {
    const divided = divisor(power);
    const patterns = {};
    let exact;
    const unit = 10 ** (power - divided);
    for (const number of [1, 2, 3, 5, 1.5, 1.1, 4, 6, 7, 9].map((factor) => factor * unit).concat(unit < 1e6 ? [unit + 0.5] : [])) {
      const plain = rules.select(number);
      const category = divided >= 6 && hasMillions(locale) && plain !== 'one' ? 'many' : plain;
      const pattern = patternOf(format.formatToParts(number * 10 ** divided), ['compact']);
      if (number === 1) exact = [category, pattern];
      else if (patterns[category] !== undefined && patterns[category] !== pattern) throw new Error(`${locale} ${power}: ${patterns[category]} ${pattern}`);
      else patterns[category] = pattern;
    }
    if (exact !== undefined) {
      const [category, pattern] = exact;
      if (patterns[category] === undefined) patterns[category] = pattern;
      else if (patterns[category] !== pattern) patterns['=1'] = pattern;
    }
    found[power] = [divided, one(patterns)];
  }
  return found;
};

const listsOf = (locale) =>
  Object.fromEntries(
    ['conjunction', 'disjunction', 'unit'].map((type) => [
      type,
      Object.fromEntries(
        displays.map((style) => {
          const between = (items) => {
            const parts = new Intl.ListFormat(locale, { type, style }).formatToParts(items);
            if (parts[0].type !== 'element' || parts.at(-1).type !== 'element') throw new Error(`${locale}: a list begins or ends with text`);
            const found = [];
            for (const { type, value } of parts) found.push(type === 'element' ? '' : found.pop() + value);
            return found.slice(0, -1);
          };
          return [style, [between(['A', 'B'])[0], ...between(['A', 'B', 'C', 'D'])]];
        }),
      ),
    ]),
  );

const times = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
const timesOf = (locale) =>
  Object.fromEntries(
    displays.map((style) => [
      style,
      Object.fromEntries(
        times.map((unit) => {
          const always = new Intl.RelativeTimeFormat(locale, { style });
          const auto = new Intl.RelativeTimeFormat(locale, { style, numeric: 'auto' });
          const words = {};
          for (const number of [-3, -2, -1, -0, 0, 1, 2, 3]) {
            const parts = auto.formatToParts(number, unit);
            if (parts.length === 1 && parts[0].type === 'literal' && auto.format(number, unit) !== always.format(number, unit)) words[Object.is(number, -0) ? '-0' : number] = parts[0].value;
          }
          if (words['-0'] === words[0]) delete words['-0'];
          const past = byCategory(locale, (number) => always.formatToParts(number === 0 ? -0 : -number, unit));
          const future = byCategory(locale, (number) => always.formatToParts(number, unit));
          return [unit, [past, future, words]];
        }),
      ),
    ]),
  );

export const currencies = Intl.supportedValuesOf('currency');
// Returns the names of currency amounts, and the text around the number and the name.
const amountsOf = (locale) => {
  const parts = (currency, number) => new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'name', minimumFractionDigits: 0 }).formatToParts(number);
  const names = {};
  for (const currency of currencies) names[currency] = byCategory(locale, (number) => parts(currency, number).filter(({ type }) => type === 'currency'), ['currency']);
  for (const [currency, name] of Object.entries(names)) names[currency] = JSON.parse(JSON.stringify(name).replace(/\{([^{}]*)\}/g, '$1'));
  return { names, shape: byCategory(locale, (number) => parts('USD', number)) };
};

// Returns the patterns of a range, and of one whose ends are written the same, for plain numbers, percentages, and
// money with a sign and with a word.
const rangesOf = (locale) => {
  const shape = (options, from, to) => {
    const format = new Intl.NumberFormat(locale, { minimumFractionDigits: 0, maximumFractionDigits: 0, ...options });
    return format.formatRangeToParts(from, to).map(({ type, value }) => (type === 'integer' ? '#' : type === 'currency' ? '¤' : value)).join('');
  };
  const money = (options) => [shape({ style: 'currency', ...options }, 3, 5), shape({ style: 'currency', ...options }, 2.9, 3.1)];
  return {
    decimal: [shape({}, 3, 5), shape({}, 2.9, 3.1)], percent: [shape({ style: 'percent' }, 0.3, 0.5), shape({ style: 'percent' }, 0.029, 0.031)],
    mark: money({ currency: 'USD', currencyDisplay: 'narrowSymbol' }), word: money({ currency: 'CHF' }), long: money({ currency: 'USD' }),
  };
};

// Returns the plural categories of ranges, by those of both ends, where they differ from that of the second end.
const rangeCategories = (locale) => {
  const rules = new Intl.PluralRules(locale);
  const found = {};
  for (const from of candidates) {
    for (const to of candidates) {
      if (from >= to) continue;
      const [first, last, all] = [rules.select(from), rules.select(to), rules.selectRange(from, to)];
      if (all !== last) found[`${first} ${last}`] = all;
    }
  }
  return found;
};

export const wordsOf = (locale) => {
  const shown = (options) => compactOf(locale, options);
  const units = unitsOf(locale);
  return {
    units,
    rates: ratesOf(locale, units),
    short: shown({ compactDisplay: 'short' }),
    long: shown({ compactDisplay: 'long' }),
    money: shown({ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }),
    amounts: amountsOf(locale),
    lists: listsOf(locale),
    times: timesOf(locale),
    ranges: rangesOf(locale),
    share: patternOf(new Intl.NumberFormat(locale, { style: 'percent', notation: 'compact' }).formatToParts(0.5), ['unit']),
    plurals: rangeCategories(locale),
  };
};

// Codes of languages, regions and scripts that have a name in some locale.
const letters = 'abcdefghijklmnopqrstuvwxyz';
const english = (type) => new Intl.DisplayNames('en', { type, fallback: 'none' });
const named = (type, codes) => {
  const names = english(type);
  return codes.filter((code) => {
    try {
      return names.of(code) !== undefined;
    } catch {
      return false;
    }
  });
};
const words = (length) => (length === 0 ? [''] : words(length - 1).flatMap((start) => [...letters].map((letter) => start + letter)));
// Of the three-letter languages, only those that the CLDR has a locale for.
const isLocale = (code) => Intl.DisplayNames.supportedLocalesOf([code]).length > 0;
const languages = named('language', [...words(2), ...words(3).filter(isLocale)]).filter((code) => Intl.getCanonicalLocales(code)[0] === code);
const regions = named('region', [...words(2).map((code) => code.toUpperCase()), ...Array.from({ length: 1000 }, (_, at) => String(at).padStart(3, '0'))]);
const scripts = [...new Set([...languages.map((code) => new Intl.Locale(code).maximize().script), 'Hans', 'Hant', 'Jpan', 'Kore', 'Hira', 'Kana', 'Latn', 'Zzzz', 'Zsym', 'Zyyy'])].filter(Boolean);
export const calendars = Intl.supportedValuesOf('calendar');
// Currencies that no longer exist, and the code for no currency.
export const oldCurrencies = named('currency', words(3).map((code) => code.toUpperCase())).filter((code) => !currencies.includes(code));
const fields = ['era', 'year', 'quarter', 'month', 'weekOfYear', 'weekday', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'timeZoneName'];

const differing = (from, to) => Object.fromEntries(Object.entries(to).filter(([key, value]) => from[key] !== value));
const namesOfType = (locale, type, codes, options) => {
  const names = new Intl.DisplayNames(locale, { type, fallback: 'none', ...options });
  return Object.fromEntries(codes.map((code) => [code, names.of(code)]).filter(([, name]) => name !== undefined));
};
const withStyles = (locale, type, codes, options) => {
  const long = namesOfType(locale, type, codes, { style: 'long', ...options });
  const short = differing(long, namesOfType(locale, type, codes, { style: 'short', ...options }));
  const narrow = differing({ ...long, ...short }, namesOfType(locale, type, codes, { style: 'narrow', ...options }));
  return [long, short, narrow];
};

// Tags of a language with a script or a region that have a name of their own in some locale.
const dialects = [
  'ar-001', 'az-Arab', 'az-AZ', 'de-AT', 'de-CH', 'en-AU', 'en-CA', 'en-GB', 'en-US', 'es-419', 'es-ES', 'es-MX', 'fa-AF', 'fr-CA', 'fr-CH', 'hi-Latn', 'ku-Arab', 'nds-NL', 'nl-BE',
  'pt-BR', 'pt-PT', 'ro-MD', 'sr-ME', 'sw-CD', 'zh-Hans', 'zh-Hant', 'zh-Hans-CN', 'zh-Hant-TW', 'zh-Hant-HK', 'yue-Hans', 'yue-Hant', 'uz-Arab', 'uz-Cyrl', 'mn-Mong', 'ms-Arab',
];
const composition = (locale, plain, tag) => {
  const region = new Intl.DisplayNames(locale, { type: 'region' }).of('JP');
  const script = scriptInside(locale, plain, 'Grek');
  const isBoth = tag.includes('Grek');
  return plain.of(tag).replace(plain.of('en'), '{0}').replace(region, isBoth ? '{2}' : '{1}').replace(isBoth ? script : '\0', '{1}');
};
export const namesOf = (locale) => {
  // A name that is composed like that of any other tag is left out.
  const composed = namesOfType(locale, 'language', dialects, { languageDisplay: 'standard' });
  const dialect = withStyles(locale, 'language', dialects, { languageDisplay: 'dialect' }).map((names, at) => (at === 0 ? differing(composed, names) : names));
  const plain = new Intl.DisplayNames(locale, { type: 'language', languageDisplay: 'standard' });
  return {
    language: withStyles(locale, 'language', languages, {}),
    dialect,
    // Pattern by which a language, a script and a region are composed.
    composed: ['en-JP', 'en-Grek-JP'].map((tag) => composition(locale, plain, tag)),
    region: withStyles(locale, 'region', regions, {}),
    script: withStyles(locale, 'script', scripts, {}),
    inside: differing(namesOfType(locale, 'script', scripts, {}), Object.fromEntries(scripts.map((code) => [code, scriptInside(locale, plain, code)]).filter(([, name]) => name !== undefined))),
    currency: withStyles(locale, 'currency', [...currencies, 'XXX'], {}),
    calendar: namesOfType(locale, 'calendar', calendars, {}),
    dateTimeField: withStyles(locale, 'dateTimeField', fields, {}),
  };
};
// Returns the name of a script after a language.
const scriptInside = (locale, plain, code) => {
  const text = plain.of(`tlh-${code}`);
  const start = text.indexOf('(');
  const at = start < 0 ? text.indexOf('（') : start;
  return at < 0 ? undefined : text.slice(at + 1, -1);
};

const zones = Intl.supportedValuesOf('timeZone');
const seasons = [Date.UTC(2024, 0, 15), Date.UTC(2024, 6, 15)];
// Returns the names of time zones: for each zone its offsets in minutes, each with the index of its names (short, long,
// and both independent of the season).
export const zonesOf = (locale) => {
  const names = [];
  const table = {};
  for (const timeZone of zones) {
    const formats = ['longOffset', 'short', 'long', 'shortGeneric', 'longGeneric'].map((timeZoneName) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }));
    const found = {};
    for (const at of seasons) {
      const [offset, ...shown] = formats.map((format) => valueOf(format.formatToParts(at), 'timeZoneName'));
      const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(offset);
      const text = shown.join('|');
      if (!names.includes(text)) names.push(text);
      found[(sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))] = names.indexOf(text);
    }
    table[timeZone] = found;
  }
  return { names, table };
};
