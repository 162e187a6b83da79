// `Intl.DateTimeFormat`: the format of en-US is implemented here, and other locales use the patterns of
// `intl-data.bin`.
import { dataOf, datePattern, digitsIn, englishZones, localeOf, numberingSystemOf, optionOf, warn, zoneNamed } from './intl-locales.js';
import { rangeOf } from './intl-ranges.js';

const { native } = host;
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const dateKeys = ['weekday', 'era', 'year', 'month', 'day'];
const timeKeys = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
const styles = {
  full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  long: { year: 'numeric', month: 'long', day: 'numeric' },
  medium: { year: 'numeric', month: 'short', day: 'numeric' },
  short: { year: '2-digit', month: 'numeric', day: 'numeric' },
};
const timeStyles = {
  full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' },
  long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' },
  short: { hour: 'numeric', minute: '2-digit' },
};
// Parts whose digits are written in the numbering system.
const numeric = ['year', 'month', 'day', 'hour', 'minute', 'second', 'fractionalSecond'];
const two = (number) => String(number).padStart(2, '0');

// Returns the minutes of a zone such as `+05:30`; undefined for any other zone.
const offsetOf = (zone) => {
  const match = /^([+-])([01]\d|2[0-3]):?([0-5]\d)?$/.exec(zone);
  return match === null ? undefined : (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0));
};

const eras = { short: ['AD', 'BC'], long: ['Anno Domini', 'Before Christ'], narrow: ['A', 'B'] };
// Returns the part of the day in English. Noon is exactly that, as far as the format shows it.
const partOfDay = (o, at) => {
  const hour = at.getUTCHours();
  const isNoon = hour === 12 && (o.minute === undefined || at.getUTCMinutes() === 0) && (o.second === undefined || at.getUTCSeconds() === 0);
  if (isNoon) return o.dayPeriod === 'narrow' ? 'n' : 'noon';
  return hour < 12 ? 'in the morning' : hour < 18 ? 'in the afternoon' : hour < 21 ? 'in the evening' : 'at night';
};

// Combinations of date and time parts that en-US writes without its data.
const usualDates = ['', 'year', 'month', 'weekday', 'year,month', 'month,day', 'weekday,month,day', 'year,month,day', 'weekday,year,month,day'];
const usualTimes = ['', 'hour', 'hour,minute', 'hour,minute,second'];
const isUsual = (o) => {
  if (o.fractionalSecondDigits !== undefined || o.month === 'narrow' || o.weekday === 'narrow') return false;
  if (o.hourCycle === 'h11' || o.hourCycle === 'h24') return false;
  const given = (keys) => keys.filter((key) => o[key] !== undefined && key !== 'era' && key !== 'dayPeriod').join();
  const [date, time] = [given(dateKeys), given(timeKeys)];
  if (date !== '' && time !== '' && !/day/.test(date)) return false;
  return usualDates.includes(date) && usualTimes.includes(time) && (date !== 'month' || time === '');
};

const lengths = ['narrow', 'short', 'long'];
const figures = ['2-digit', 'numeric'];
const allowed = {
  localeMatcher: ['lookup', 'best fit'], formatMatcher: ['basic', 'best fit'],
  weekday: lengths, era: lengths, year: figures, month: [...figures, ...lengths], day: figures, dayPeriod: lengths,
  hour: figures, minute: figures, second: figures, hourCycle: ['h11', 'h12', 'h23', 'h24'],
  timeZoneName: ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'],
  dateStyle: ['full', 'long', 'medium', 'short'], timeStyle: ['full', 'long', 'medium', 'short'],
};
// Reads the options of a format. An unknown value is an error.
const readOptions = (options, owner) => {
  if (options === null) throw new TypeError('Cannot convert undefined or null to object');
  const given = options === undefined ? { __proto__: null } : Object(options);
  const o = { __proto__: null };
  for (const [name, values] of Object.entries(allowed)) o[name] = optionOf(given, name, values, undefined, owner);
  for (const name of ['timeZone', 'numberingSystem', 'calendar']) o[name] = optionOf(given, name, undefined, undefined, owner);
  if (o.calendar !== undefined && !/^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i.test(o.calendar)) throw new RangeError(`Invalid calendar : ${o.calendar}`);
  if (given.hour12 !== undefined) o.hour12 = Boolean(given.hour12);
  if (given.fractionalSecondDigits !== undefined) {
    const digits = Math.floor(Number(given.fractionalSecondDigits));
    if (!(digits >= 1 && digits <= 3)) throw new RangeError('fractionalSecondDigits value is out of range.');
    o.fractionalSecondDigits = digits;
  }
  return o;
};
// Returns the year without a sign: years before the first belong to the previous era, which has no year 0.
const yearOf = (at) => {
  const year = at.getUTCFullYear();
  return year > 0 ? year : 1 - year;
};

export class DateTimeFormat {
  #o;
  // Data of a locale other than en-US.
  #l;
  #bound;
  constructor(locales, options, required = 'any', defaults = 'date', owner = 'DateTimeFormat') {
    const o = readOptions(options, owner);
    const zone = o.timeZone === undefined ? 'UTC' : String(o.timeZone);
    const name = offsetOf(zone) === undefined ? (/^(utc|gmt|etc\/utc)$/i.test(zone) ? 'UTC' : zoneNamed(native.zoneName(zone))) : zone;
    if (name == null) throw new RangeError(`Invalid time zone specified: ${zone}`);
    if (o.dateStyle !== undefined || o.timeStyle !== undefined) {
      if (required === 'date' && o.timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
      if (required === 'time' && o.dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
      if ([...dateKeys, ...timeKeys].some((key) => o[key] !== undefined)) throw new TypeError(`Can't set option ${[...dateKeys, ...timeKeys].find((key) => o[key] !== undefined)} when ${o.dateStyle ? 'dateStyle' : 'timeStyle'} is used`);
      for (const [given, known] of [[o.dateStyle, styles], [o.timeStyle, timeStyles]]) {
        Object.assign(o, known[given]);
      }
    } else {
      const has = (keys) => keys.some((key) => o[key] !== undefined);
      const needs = !(required !== 'time' && has(dateKeys.filter((key) => key !== 'era'))) && !(required !== 'date' && has(timeKeys));
      if (needs && defaults !== 'time') Object.assign(o, { year: 'numeric', month: 'numeric', day: 'numeric' });
      if (needs && defaults !== 'date') Object.assign(o, { hour: 'numeric', minute: 'numeric', second: 'numeric' });
    }
    const { locale, data, keywords } = localeOf(locales);
    const basic = data === 'en-US' && isUsual(o) ? undefined : dataOf(data, 'basic');
    const dates = basic?.dates;
    this.#l = dates;
    const digits = optionOf(o, 'numberingSystem', undefined, undefined, 'DateTimeFormat');
    const standard = basic?.numbers.native ?? 'latn';
    const { system, isNamed } = digits === undefined && keywords.nu === undefined ? { system: standard, isNamed: false } : numberingSystemOf(digits, keywords, standard);
    const cycleNamed = o.hourCycle === undefined && o.hour12 === undefined && /^h(11|12|23|24)$/.test(keywords.hc ?? '');
    if (cycleNamed) o.hourCycle = keywords.hc;
    const calendar = o.calendar ?? keywords.ca;
    if (calendar !== undefined && !/^(gregory|iso8601)$/.test(calendar)) warn(`Intl has no calendar '${calendar}' here: dates are those of the Gregorian one`);
    const hours24 = o.hour12 === undefined ? (o.hourCycle ?? dates?.hours ?? 'h12').startsWith('h2') : !o.hour12;
    if (basic !== undefined && (o.era !== undefined || o.dayPeriod !== undefined)) warn('Intl leaves out eras and parts of the day here');
    if ((o.hour !== undefined && o.minute === undefined && o.second !== undefined) || (o.fractionalSecondDigits !== undefined && o.second === undefined)) {
      warn('Intl writes seconds without minutes, and their parts without seconds, otherwise here');
    }
    const isDayAlone = o.weekday !== undefined && (o.year ?? o.month ?? o.day) === undefined && timeKeys.some((key) => o[key] !== undefined);
    if (data !== 'en-US' && (isDayAlone || (o.weekday === 'narrow' && (o.month ?? o.day) !== undefined))) {
      warn('Intl writes days of the week beside a time, and short ones beside a month, in some locales otherwise here');
    }
    const isOdd = o.day === undefined ? o.weekday !== undefined && (o.month ?? o.year) !== undefined : o.year !== undefined && o.month === undefined;
    if (isOdd || (o.hour === undefined && (o.minute ?? o.second) !== undefined && dateKeys.some((key) => o[key] !== undefined))) {
      warn('Intl writes dates without a month or a day, and with minutes without hours, in some locales otherwise here');
    }
    if (o.timeZoneName !== undefined && (name !== 'UTC' || o.timeZoneName.endsWith('Offset')) && !data.startsWith('en-')) {
      warn(`Intl has no names of time zones for the locale '${locale}' here: they are English`);
    }
    this.#o = { __proto__: null, ...o, locale: isNamed || cycleNamed || keywords.ca === 'gregory' ? `${locale}-u${keywords.ca === 'gregory' ? '-ca-gregory' : ''}${cycleNamed ? `-hc-${keywords.hc}` : ''}${isNamed ? `-nu-${system}` : ''}` : locale, system, zone: name, hours24, from0: o.hourCycle === 'h23' || o.hour12 === undefined && hours24 };
  }
  // Returns the fields of an instant in the zone.
  #fields(millis) {
    const { zone } = this.#o;
    const fixed = offsetOf(zone);
    let offset = fixed === undefined ? 0 : fixed * 60;
    let abbreviation = 'UTC';
    if (fixed === undefined && zone !== 'UTC') {
      const found = native.zoneAt(zone, millis);
      if (found != null) [offset, abbreviation] = found;
    }
    return { at: new Date(millis + offset * 1000), offset, abbreviation };
  }
  #zoneName({ offset, at }) {
    const { timeZoneName, zone, locale } = this.#o;
    const isNamed = timeZoneName === 'short' || timeZoneName === 'long';
    if (zone === 'UTC' && isNamed) return timeZoneName === 'long' ? (this.#l?.zone ?? 'Coordinated Universal Time') : 'UTC';
    // The CLDR has no names of zones for the time before 1970.
    const hasNames = at.getTime() - offset * 1000 >= 0;
    if (zone !== 'UTC' && hasNames && offsetOf(zone) === undefined && !timeZoneName.endsWith('Offset')) {
      const { names, table } = englishZones(locale.replace(/-u-.*/, '').replace(/^en$/, 'en-US'));
      const found = names[table[zone]?.[offset / 60]];
      if (found !== undefined) return found.split('|')[['short', 'long', 'shortGeneric', 'longGeneric'].indexOf(timeZoneName)];
      warn(`Intl has no name of the time zone '${zone}' at that time here: its distance from UTC stands for it`);
    }
    const minutes = Math.abs(offset) / 60;
    const [hour, minute] = [Math.floor(minutes / 60), Math.round(minutes % 60)];
    const full = timeZoneName.startsWith('long');
    return `GMT${offset < 0 ? '-' : '+'}${full ? two(hour) : hour}${minute > 0 || full ? `:${two(minute)}` : ''}`;
  }
  #date(at) {
    const o = this.#o;
    const alone = o.month === undefined && o.day === undefined && o.year === undefined;
    const wide = alone ? 8 : o.month === 'long' || o.month === 'short' || o.month === 'narrow';
    const full = yearOf(at);
    const year = o.year === undefined ? undefined : o.year === '2-digit' ? two(full % 100) : String(full);
    const pad = (style, number) => (style === '2-digit' ? two(number) : String(number));
    const day = o.day === undefined ? undefined : pad(o.day, at.getUTCDate());
    const monthName = months[at.getUTCMonth()];
    const month = o.month === undefined ? undefined : o.month === 'long' ? monthName : o.month === 'short' ? monthName.slice(0, 3) : o.month === 'narrow' ? monthName[0] : pad(o.month, at.getUTCMonth() + 1);
    const dayName = days[at.getUTCDay()];
    const weekday = o.weekday === undefined ? undefined : o.weekday === 'long' ? dayName : o.weekday === 'short' ? dayName.slice(0, 3) : dayName[0];
    const parts = [];
    const add = (type, value, before) => {
      if (value === undefined) return;
      if (parts.length > 0) parts.push(['literal', before]);
      parts.push([type, value]);
    };
    if (wide) {
      add('weekday', weekday, '');
      add('month', month, ', ');
      add('day', day, ' ');
      add('year', year, day === undefined ? ' ' : ', ');
    } else {
      add('weekday', weekday, '');
      const values = { day, month, year };
      for (const type of ['month', 'day', 'year']) add(type, values[type], parts.at(-1)?.[0] === 'weekday' ? (month === undefined && year === undefined ? ' ' : ', ') : '/');
      if (weekday !== undefined && month === undefined && year === undefined && day !== undefined) return [['day', day], ['literal', ' '], ['weekday', weekday]];
    }
    if (o.era !== undefined) add('era', eras[o.era][at.getUTCFullYear() > 0 ? 0 : 1], ' ');
    return parts;
  }
  #time(at) {
    const o = this.#o;
    if (timeKeys.every((key) => o[key] === undefined)) return [];
    const parts = [];
    const hour = at.getUTCHours();
    if (o.hour !== undefined) {
      // With `hour12: false`, en-US counts to 24, as in V8.
      const shown = o.hours24 ? (hour === 0 && !o.from0 ? 24 : hour) : hour % 12 || 12;
      parts.push(['hour', o.hour === '2-digit' || o.hours24 ? two(shown) : String(shown)]);
    }
    const minute = o.minute === undefined ? undefined : parts.length > 0 || o.second !== undefined || o.minute === '2-digit' && o.hour !== undefined ? two(at.getUTCMinutes()) : String(at.getUTCMinutes());
    if (minute !== undefined) parts.push(...(parts.length > 0 ? [['literal', ':']] : []), ['minute', minute]);
    if (o.second !== undefined) parts.push(...(parts.length > 0 ? [['literal', ':']] : []), ['second', parts.length > 0 ? two(at.getUTCSeconds()) : String(at.getUTCSeconds())]);
    if (o.fractionalSecondDigits !== undefined) {
      parts.push(...(parts.length > 0 ? [['literal', '.']] : []), ['fractionalSecond', String(at.getUTCMilliseconds()).padStart(3, '0').slice(0, o.fractionalSecondDigits)]);
    }
    if (o.dayPeriod !== undefined) {
      if (o.hour === undefined || !o.hours24) parts.push(...(parts.length > 0 ? [['literal', ' ']] : []), ['dayPeriod', partOfDay(o, at)]);
    } else if (o.hour !== undefined && !o.hours24) parts.push(['literal', '\u202f'], ['dayPeriod', hour < 12 ? 'AM' : 'PM']);
    return parts;
  }
  // Returns the patterns of a date and a time in another locale, and the text that joins them.
  #patterns() {
    const [o, l] = [this.#o, this.#l];
    const pattern = (mark) => l.patterns[mark.charCodeAt(0) - 48];
    const names = Object.keys(styles);
    const narrow = (text) => (o.month === 'narrow' ? text.replace(/\{[MLml]\}/, '{N}') : text).replace(/\{[WVwv]\}/, o.weekday === 'narrow' ? '{n}' : '$&');
    const short = (style) => (style === 'narrow' ? 'short' : style);
    let date = '';
    if (o.dateStyle !== undefined) date = pattern(l.styles[names.indexOf(o.dateStyle)]);
    else if (dateKeys.some((key) => key !== 'era' && o[key] !== undefined)) date = narrow(datePattern(l, { ...o, weekday: short(o.weekday), month: short(o.month) }));
    const time = this.#timePattern(pattern);
    const [between, behind, before, isTimeFirst] = l.glues[o.dateStyle !== undefined ? names.indexOf(o.dateStyle) : this.#width];
    if (date !== '' && time !== '') return before + (isTimeFirst ? time + between + date : date + between + time) + behind;
    return date + time;
  }
  // Returns the index of the text that joins a date with these parts to the time.
  get #width() {
    const o = this.#o;
    if ((o.month ?? o.day ?? o.year) === undefined) return 8;
    return o.month === 'long' ? (o.weekday === undefined ? 5 : 4) : o.month === 'short' ? 6 : 7;
  }
  #timePattern(pattern) {
    const [o, l] = [this.#o, this.#l];
    const cycle = o.hour12 === undefined ? o.hourCycle : undefined;
    const from = cycle !== undefined ? (cycle.startsWith('h2') ? 28 : 14) : o.hour12 === undefined ? 0 : o.hour12 ? 14 : 28;
    const padded = o.minute === '2-digit' && (o.second ?? '2-digit') === '2-digit' ? 1 : 0;
    let time = '';
    if (o.timeStyle !== undefined) time = pattern(l.times[from + 10 + Object.keys(timeStyles).indexOf(o.timeStyle)]);
    else if (o.hour !== undefined) {
      // Times with the name of a zone follow the others.
      const first = o.timeZoneName === undefined ? from : 43 + (from / 14) * 10;
      time = pattern(l.times[first + (o.hour === '2-digit' ? 5 : 0) + (o.second !== undefined ? 3 + padded : o.minute !== undefined ? 1 + padded : 0)]);
    }
    else if (o.minute !== undefined && o.second !== undefined) time = pattern(l.times[42]);
    else if (o.minute !== undefined) time = '{I}';
    else if (o.second !== undefined) time = '{S}';
    if (cycle !== undefined) {
      const letters = { h11: 'jJ', h12: 'hH', h23: 'kK', h24: 'qQ' }[cycle];
      time = time.replace(/\{[hjkq]\}/, `{${letters[0]}}`).replace(/\{[HJKQ]\}/, `{${letters[1]}}`);
    }
    if (o.fractionalSecondDigits !== undefined) time = time.replace(/\{[sS]\}/, `$&${l.fraction}{f}`) || '{f}';
    return time;
  }
  #localized({ at, ...zone }) {
    const [o, l] = [this.#o, this.#l];
    let pattern = this.#patterns();
    if (o.timeZoneName !== undefined && !pattern.includes('{z}')) pattern += /\{[sSiIhHjJkKqQ]\}/.test(pattern) ? ' {z}' : `${l.glues[o.month === 'long' ? this.#width : 7][0]}{z}`;
    const hour = at.getUTCHours();
    const name = (letter, index) => (l.names[letter] ?? l.names[{ L: 'M', l: 'm', V: 'W', v: 'w' }[letter]]).split('|')[index];
    // In these languages, the name of a month is in lower case next to a day.
    const hasSmallMonths = o.day !== undefined && /^(pl|uk)\b/.test(o.locale);
    const number = (type, value, padded) => [type, padded ? two(value) : String(value)];
    const write = (letter) => {
      switch (letter) {
        case 'd': case 'D': return number('day', at.getUTCDate(), letter === 'D');
        case '1': case '2': return number('month', at.getUTCMonth() + 1, letter === '2');
        case 'y': return number('year', yearOf(at));
        case 'Y': return number('year', yearOf(at) % 100, true);
        case 'h': case 'H': return number('hour', hour % 12 || 12, letter === 'H');
        case 'j': case 'J': return number('hour', hour % 12, letter === 'J');
        case 'k': case 'K': return number('hour', hour, letter === 'K');
        case 'q': case 'Q': return number('hour', hour || 24, letter === 'Q');
        case 'i': case 'I': return number('minute', at.getUTCMinutes(), letter === 'i');
        case 's': case 'S': return number('second', at.getUTCSeconds(), letter === 's');
        case 'f': return number('fractionalSecond', String(at.getUTCMilliseconds()).padStart(3, '0').slice(0, o.fractionalSecondDigits));
        case 'a': case 'b': return ['dayPeriod', l.periods[letter === 'b' ? 1 : 0].findLast(([from]) => hour >= from)[1]];
        case 'z': return ['timeZoneName', this.#zoneName({ ...zone, at })];
        default: return 'MLmlN'.includes(letter) ? ['month', letter === 'N' && hasSmallMonths ? name(letter, at.getUTCMonth()).toLowerCase() : name(letter, at.getUTCMonth())] : ['weekday', name(letter, at.getUTCDay())];
      }
    };
    return [...pattern.matchAll(/\{(\w)\}|[^{]+/g)].map(([text, letter]) => (letter === undefined ? ['literal', text] : write(letter)));
  }
  #parts(given) {
    const millis = given === undefined ? Date.now() : Number(given);
    if (!Number.isFinite(millis) || Math.abs(millis) > 8.64e15) throw new RangeError('Invalid time value');
    const fields = this.#fields(millis);
    const { system } = this.#o;
    const parts = this.#l === undefined ? this.#english(fields) : this.#localized(fields);
    return system === 'latn' ? parts : parts.map(([type, text]) => [type, numeric.includes(type) ? digitsIn(text, system) : text]);
  }
  #english(fields) {
    const [date, time] = [this.#date(fields.at), this.#time(fields.at)];
    const { dateStyle, timeStyle } = this.#o;
    const isWeekday = date.length === 1 && date[0][0] === 'weekday';
    const between = (timeStyle !== undefined ? dateStyle === 'full' || dateStyle === 'long' : this.#o.month === 'long') ? ' at ' : isWeekday && this.#o.timeZoneName === undefined ? ' ' : ', ';
    const parts = [...date, ...(date.length > 0 && time.length > 0 ? [['literal', between]] : []), ...time];
    if (this.#o.timeZoneName !== undefined) {
      const apart = this.#o.month === 'long' ? ' at ' : ', ';
      parts.push(['literal', time.length > 0 ? ' ' : apart], ['timeZoneName', this.#zoneName(fields)]);
    }
    return parts;
  }
  get format() {
    // As in V8, the narrow space occurs in the parts alone.
    return (this.#bound ??= (date) => this.#parts(date).map(([, text]) => text).join('').replaceAll('\u202f', ' '));
  }
  formatToParts(date) {
    return this.#parts(date).map(([type, value]) => ({ type, value }));
  }
  formatRange(from, to) {
    return this.formatRangeToParts(from, to).map(({ value }) => value).join('');
  }
  formatRangeToParts(from, to) {
    if (from === undefined || to === undefined) throw new TypeError('Invalid time value');
    if (this.#l === undefined) return this.#englishRange([from, to]);
    const [a, b] = [from, to].map((date) => this.formatToParts(date));
    const texts = [a, b].map((parts) => parts.map(({ value }) => value).join(''));
    if (texts[0] === texts[1]) return a.map((part) => ({ ...part, source: 'shared' }));
    warn('Intl writes ranges of dates as their two ends here');
    const side = (parts, source) => parts.map((part) => ({ ...part, source }));
    return [...side(a, 'startRange'), { type: 'literal', value: '\u2009–\u2009', source: 'shared' }, ...side(b, 'endRange')];
  }
  #englishRange(ends) {
    const o = this.#o;
    const parts = ends.map((end) => this.formatToParts(end));
    const write = (fields, end) => {
      const format = new DateTimeFormat(o.locale, { ...fields, timeZone: o.zone, hourCycle: o.hourCycle, hour12: o.hour12 });
      const source = ['startRange', 'endRange'][end] ?? 'shared';
      return format.formatToParts(ends[end === 'shared' ? 0 : end]).map((part) => ({ ...part, source }));
    };
    return rangeOf(o, ends.map((end) => this.#fields(Number(end)).at), write) ?? parts[0].map((part) => ({ ...part, value: part.value.replace('\u202f', ' '), source: 'shared' }));
  }
  resolvedOptions() {
    const o = { ...this.#o };
    const shown = o.dateStyle === undefined && o.timeStyle === undefined ? [...dateKeys, ...timeKeys, 'timeZoneName'] : ['dateStyle', 'timeStyle'];
    // Minutes after hours have two digits, and so have seconds after minutes.
    if (o.minute !== undefined && (o.hour ?? o.second) !== undefined) o.minute = '2-digit';
    if (o.minute !== undefined && o.second !== undefined) o.second = '2-digit';
    const named = o.hour12 === undefined ? o.hourCycle : undefined;
    const cycle = o.hour === undefined ? {} : { hourCycle: named ?? (o.hours24 ? 'h23' : 'h12'), hour12: !o.hours24 };
    const given = shown.filter((name) => o[name] !== undefined).map((name) => [name, o[name]]);
    return { locale: o.locale, calendar: 'gregory', numberingSystem: o.system, timeZone: o.zone, ...cycle, ...Object.fromEntries(given) };
  }
}
// The bundle renames a class that names itself.
Object.defineProperty(DateTimeFormat, 'name', { value: 'DateTimeFormat', configurable: true });
