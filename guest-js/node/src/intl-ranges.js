// Ranges of dates in American English, as the intervals of the CLDR have them.

const between = [{ type: 'literal', value: '\u2009–\u2009', source: 'shared' }];
const literal = (value) => [{ type: 'literal', value, source: 'shared' }];
// Units of a date from the greatest to the smallest; the halves of a day are a unit of their own.
const units = [
  (at) => at.getUTCFullYear(), (at) => at.getUTCMonth(), (at) => at.getUTCDate(), (at) => at.getUTCHours() >= 12,
  (at) => at.getUTCHours(), (at) => at.getUTCMinutes(), (at) => at.getUTCSeconds(), (at) => at.getUTCMilliseconds(),
];
const [YEAR, MONTH, DAY] = [0, 1, 2];
const dateKeys = ['weekday', 'year', 'month', 'day'];
const timeKeys = ['hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName'];

const finestOf = (o) => {
  const time = [[7, 'fractionalSecondDigits'], [6, 'second'], [5, 'minute'], [4, 'hour']].find(([, key]) => o[key] !== undefined);
  if (time !== undefined) return time[0];
  return o.day !== undefined || o.weekday !== undefined ? DAY : o.month !== undefined ? MONTH : YEAR;
};
const pick = (o, keys) => Object.fromEntries(keys.filter((key) => o[key] !== undefined).map((key) => [key, o[key]]));
// Returns the fields of a date, with those that tell the ends apart.
const completed = (o, unit) => {
  const date = pick(o, dateKeys);
  const hasTime = timeKeys.some((key) => o[key] !== undefined);
  const isBare = Object.keys(date).length === 0;
  if (hasTime && !isBare) date.day ??= 'numeric';
  if (isBare || (date.day !== undefined && unit === YEAR)) date.year ??= 'numeric';
  if (isBare || (date.day !== undefined && unit <= MONTH)) date.month ??= 'numeric';
  if (isBare) date.day = 'numeric';
  return date;
};

// Returns the parts of a range of two dates in the zone; undefined if the format does not tell them apart. `write(fields,
// end)` returns the parts of one end, or of both if they share the fields.
export const rangeOf = (o, [a, b], write) => {
  const unit = units.findIndex((of) => of(a) !== of(b));
  if (unit === -1 || unit > finestOf(o)) return undefined;
  const both = (first, second) => [...write(first, 0), ...between, ...write(second, 1)];
  const time = pick(o, timeKeys);
  if (unit > DAY) return timeRange(o, pick(o, dateKeys), time, a.getUTCHours() >= 12 === b.getUTCHours() >= 12, both, write);
  const date = completed(o, unit);
  if (Object.keys(time).length > 0) return both({ ...date, ...time }, { ...date, ...time });
  const { year, ...first } = date;
  if (date.month === undefined || date.month === 'numeric' || date.month === '2-digit') {
    const plain = Object.fromEntries(Object.entries(date).map(([key, style]) => [key, key !== 'year' && style === '2-digit' ? 'numeric' : style]));
    return both(plain, plain);
  }
  if (unit === YEAR) return both(date, date);
  if (unit === MONTH || date.weekday !== undefined) return withShared(both(first, date), year);
  // Of one month: `Jan 10 – 12, 2024`.
  const start = write(first, 0);
  const day = start.findIndex(({ type }) => type === 'day');
  const shared = start.map((part, index) => (index < day ? { ...part, source: 'shared' } : part));
  return [...shared, ...between, ...write({ day: date.day }, 1), ...(year === undefined ? [] : [...literal(', '), ...write({ year }, 'shared')])];
};

// Marks the year of the end, which is written once, as the one of both.
const withShared = (parts, year) => {
  if (year === undefined) return parts;
  return parts.map((part, index) => (index >= parts.length - 2 ? { ...part, source: 'shared' } : part));
};

const timeRange = (o, date, time, isSameHalf, both, write) => {
  const before = Object.keys(date).length === 0 ? [] : [...write(date, 'shared'), ...literal(', ')];
  if (o.second !== undefined || o.fractionalSecondDigits !== undefined) return [...before, ...both(time, time)];
  const { timeZoneName, ...hours } = time;
  let range = both(hours, hours);
  if (isSameHalf && range.some(({ type }) => type === 'dayPeriod')) {
    const first = range.findIndex(({ type }) => type === 'dayPeriod');
    range = range.filter((_, index) => index !== first && index !== first - 1);
    range = range.map((part, index) => (index >= range.length - 2 ? { ...part, source: 'shared' } : part));
  }
  const zone = timeZoneName === undefined ? [] : write({ ...hours, timeZoneName }, 'shared').slice(-2);
  return [...before, ...range, ...zone];
};
