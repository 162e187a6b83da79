// `Intl.DateTimeFormat`: en-US, and the order of en-GB, en-CA, sv-SE, de-DE, fr-FR for dates in numbers.

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
// Dates in numbers elsewhere: order of the parts, what stands between, two digits always, hours to 24.
const elsewhere = {
  'en-GB': [['day', 'month', 'year'], '/', true],
  'en-CA': [['year', 'month', 'day'], '-', true],
  'sv-SE': [['year', 'month', 'day'], '-', true],
  sv: [['year', 'month', 'day'], '-', true],
  'de-DE': [['day', 'month', 'year'], '.', false],
  de: [['day', 'month', 'year'], '.', false],
  'fr-FR': [['day', 'month', 'year'], '/', true],
  fr: [['day', 'month', 'year'], '/', true],
};
const two = (number) => String(number).padStart(2, '0');

// `+05:30` as a zone, in minutes; undefined if it is none.
const offsetOf = (zone) => {
  const match = /^([+-])(\d\d):?(\d\d)?$/.exec(zone);
  return match === null ? undefined : (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0));
};

export class DateTimeFormat {
  #o;
  #bound;
  constructor(locales, options = {}, required = 'any', defaults = 'date') {
    const o = { ...options };
    const zone = o.timeZone === undefined ? 'UTC' : String(o.timeZone);
    const name = offsetOf(zone) === undefined ? (/^(utc|gmt|etc\/utc)$/i.test(zone) ? 'UTC' : native.zoneName(zone)) : zone;
    if (name == null) throw new RangeError(`Invalid time zone specified: ${zone}`);
    if (o.dateStyle !== undefined || o.timeStyle !== undefined) {
      if ([...dateKeys, ...timeKeys].some((key) => o[key] !== undefined)) throw new TypeError(`Can't set option ${[...dateKeys, ...timeKeys].find((key) => o[key] !== undefined)} when ${o.dateStyle ? 'dateStyle' : 'timeStyle'} is used`);
      for (const [given, known] of [[o.dateStyle, styles], [o.timeStyle, timeStyles]]) {
        if (given !== undefined && !(given in known)) throw new RangeError(`Value ${given} out of range for Intl.DateTimeFormat options property dateStyle`);
        Object.assign(o, known[given]);
      }
    } else {
      const has = (keys) => keys.some((key) => o[key] !== undefined);
      const needs = !(required !== 'time' && has(dateKeys)) && !(required !== 'date' && has(timeKeys));
      if (needs && defaults !== 'time') Object.assign(o, { year: 'numeric', month: 'numeric', day: 'numeric' });
      if (needs && defaults !== 'date') Object.assign(o, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
    }
    const [locale = 'en-US'] = [locales ?? []].flat().map(String);
    const hours24 = o.hour12 === undefined ? (o.hourCycle?.startsWith('h2') ?? (locale in elsewhere && locale !== 'en-CA')) : !o.hour12;
    this.#o = { ...o, locale, zone: name, hours24, from0: o.hourCycle === 'h23' || o.hour12 === undefined && hours24 };
  }
  // The fields of an instant in the zone.
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
  #zoneName({ offset, abbreviation }) {
    const { timeZoneName, zone } = this.#o;
    if (zone === 'UTC') return timeZoneName === 'long' ? 'Coordinated Universal Time' : timeZoneName.includes('Offset') ? 'GMT' : 'UTC';
    const american = /^(E|C|M|P|AK|H)[SD]T$/.test(abbreviation) && /^(America|US|Pacific)\//.test(zone);
    if (american && timeZoneName === 'short') return abbreviation;
    if (american && timeZoneName === 'long') {
      const names = { E: 'Eastern', C: 'Central', M: 'Mountain', P: 'Pacific', AK: 'Alaska', H: 'Hawaii-Aleutian' };
      return `${names[abbreviation.slice(0, -2)]} ${abbreviation.at(-2) === 'D' ? 'Daylight' : 'Standard'} Time`;
    }
    const minutes = Math.abs(offset) / 60;
    const [hour, minute] = [Math.floor(minutes / 60), Math.round(minutes % 60)];
    if (offset === 0) return 'GMT';
    const full = timeZoneName === 'long' || timeZoneName === 'longOffset';
    return `GMT${offset < 0 ? '-' : '+'}${full ? two(hour) : hour}${minute > 0 || full ? `:${two(minute)}` : ''}`;
  }
  #date(at) {
    const o = this.#o;
    const wide = o.month === 'long' || o.month === 'short' || o.month === 'narrow';
    const [order, between, always] = elsewhere[o.locale] ?? [['month', 'day', 'year'], '/', false];
    const full = at.getUTCFullYear();
    const year = o.year === undefined ? undefined : o.year === '2-digit' ? two(full % 100) : String(full);
    const pad = (style, number) => (style === '2-digit' || (always && o.year === 'numeric' && style === 'numeric' && !wide) ? two(number) : String(number));
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
    if (wide && o.locale === 'en-GB') {
      add('weekday', weekday, '');
      add('day', day, weekday === undefined || o.weekday === 'long' ? ' ' : ', ');
      add('month', month, ' ');
      add('year', year, ' ');
    } else if (wide) {
      add('weekday', weekday, '');
      add('month', month, ', ');
      add('day', day, ' ');
      add('year', year, day === undefined ? ' ' : ', ');
    } else {
      add('weekday', weekday, '');
      const values = { day, month, year };
      for (const type of order) add(type, values[type], parts.at(-1)?.[0] === 'weekday' ? (month === undefined && year === undefined ? ' ' : ', ') : between);
      if (weekday !== undefined && month === undefined && year === undefined && day !== undefined) return [['day', day], ['literal', ' '], ['weekday', weekday]];
    }
    return parts;
  }
  #time(at) {
    const o = this.#o;
    if (timeKeys.every((key) => o[key] === undefined)) return [];
    const parts = [];
    const hour = at.getUTCHours();
    if (o.hour !== undefined) {
      // With `hour12: false` en-US counts to 24, as V8 does.
      const shown = o.hours24 ? (hour === 0 && !o.from0 ? 24 : hour) : hour % 12 || 12;
      parts.push(['hour', o.hour === '2-digit' || o.hours24 ? two(shown) : String(shown)]);
    }
    const minute = o.minute === undefined ? undefined : parts.length > 0 || o.second !== undefined || o.minute === '2-digit' && o.hour !== undefined ? two(at.getUTCMinutes()) : String(at.getUTCMinutes());
    if (minute !== undefined) parts.push(...(parts.length > 0 ? [['literal', ':']] : []), ['minute', minute]);
    if (o.second !== undefined) parts.push(...(parts.length > 0 ? [['literal', ':']] : []), ['second', parts.length > 0 ? two(at.getUTCSeconds()) : String(at.getUTCSeconds())]);
    if (o.fractionalSecondDigits !== undefined) {
      parts.push(...(parts.length > 0 ? [['literal', '.']] : []), ['fractionalSecond', String(at.getUTCMilliseconds()).padStart(3, '0').slice(0, o.fractionalSecondDigits)]);
    }
    if (o.hour !== undefined && !o.hours24) parts.push(['literal', ' '], ['dayPeriod', hour < 12 ? 'AM' : 'PM']);
    return parts;
  }
  #parts(given) {
    const millis = given === undefined ? Date.now() : Number(given);
    if (!Number.isFinite(millis) || Math.abs(millis) > 8.64e15) throw new RangeError('Invalid time value');
    const fields = this.#fields(millis);
    const [date, time] = [this.#date(fields.at), this.#time(fields.at)];
    const { dateStyle, timeStyle } = this.#o;
    const between = timeStyle !== undefined && (dateStyle === 'full' || dateStyle === 'long') ? ' at ' : ', ';
    const parts = [...date, ...(date.length > 0 && time.length > 0 ? [['literal', between]] : []), ...time];
    if (this.#o.timeZoneName !== undefined) {
      parts.push(['literal', time.length > 0 ? ' ' : ', '], ['timeZoneName', this.#zoneName(fields)]);
    }
    return parts;
  }
  get format() {
    return (this.#bound ??= (date) => this.#parts(date).map(([, text]) => text).join(''));
  }
  formatToParts(date) {
    return this.#parts(date).map(([type, value]) => ({ type, value }));
  }
  formatRange(from, to) {
    const [a, b] = [this.format(from), this.format(to)];
    return a === b ? a : `${a} – ${b}`;
  }
  resolvedOptions() {
    const { zone, hours24, from0, locale, ...rest } = this.#o;
    void from0;
    return { locale: 'en-US', calendar: 'gregory', numberingSystem: 'latn', ...rest, timeZone: zone, ...(rest.hour === undefined ? {} : { hourCycle: hours24 ? 'h23' : 'h12', hour12: !hours24 }), ...(locale in elsewhere ? { locale } : {}) };
  }
}
