// Exact decimal numbers, and their rounding by `Intl`.
import { optionOf } from './intl-locales.js';

// Returns `{negative, digits, point}`, which means 0.digits times ten to the power of `point`, or `{special}` for NaN
// and the infinities.
export const decimalOf = (value) => {
  if (typeof value === 'bigint') return parsed(String(value));
  if (typeof value === 'string') return parsedText(value);
  const number = Number(value);
  if (Number.isNaN(number)) return { negative: false, special: 'nan' };
  if (!Number.isFinite(number)) return { negative: number < 0, special: 'infinity' };
  return Object.is(number, -0) ? { negative: true, digits: '', point: 0 } : parsed(String(number));
};
const parsedText = (value) => {
  const text = value.trim();
  // Text is converted exactly, not to the nearest float.
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    const number = Number(text);
    return number === 0 || !Number.isFinite(number) ? decimalOf(number) : parsed(text);
  }
  return /^[+-]?Infinity$/.test(text) ? { negative: text[0] === '-', special: 'infinity' } : decimalOf(Number(value));
};
const parsed = (text) => {
  const [, sign, whole, part = '', exponent = '0'] = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text);
  const all = whole + part;
  const digits = all.replace(/^0+/, '');
  const point = whole.length - (all.length - digits.length) + Number(exponent);
  return normal(sign === '-', digits, point);
};
const normal = (negative, digits, point) => {
  const kept = digits.replace(/0+$/, '');
  return { negative, digits: kept, point: kept === '' ? 0 : point };
};
export const isZero = (number) => number.digits === '';
// Returns the power of ten of the first digit.
export const magnitude = (number) => (number.digits === '' ? 0 : number.point - 1);
export const shifted = (number, power) => (number.digits === '' || number.special ? number : { ...number, point: number.point + power });

// Returns true if the removed digits round the number away from zero. `half` compares them with half a unit of the last
// place.
const goesUp = (mode, negative, half, isOdd) => {
  switch (mode) {
    case 'ceil': return !negative;
    case 'floor': return negative;
    case 'expand': return true;
    case 'trunc': return false;
    case 'halfCeil': return half > 0 || (half === 0 && !negative);
    case 'halfFloor': return half > 0 || (half === 0 && negative);
    case 'halfTrunc': return half > 0;
    case 'halfEven': return half > 0 || (half === 0 && isOdd);
    default: return half >= 0;
  }
};

// Rounds a number to a multiple of `increment` with `places` decimals; a negative number of places is before the point.
export const rounded = (number, places, mode = 'halfExpand', increment = 1) => {
  const { negative, digits, point } = number;
  const behind = digits.length - point;
  if (digits === '' || (increment === 1 && behind <= places)) return number;
  const whole = BigInt(digits) * 10n ** BigInt(Math.max(places - behind, 0));
  const unit = BigInt(increment) * 10n ** BigInt(Math.max(behind - places, 0));
  let [count, rest] = [whole / unit, whole % unit];
  const half = rest * 2n === unit ? 0 : rest * 2n > unit ? 1 : -1;
  if (rest !== 0n && goesUp(mode, negative, half, count % 2n === 1n)) count += 1n;
  const text = String(count * BigInt(increment));
  return count === 0n ? normal(negative, '', 0) : normal(negative, text, text.length - places);
};

// Returns the digits before and after the point, with at least `least` of the latter.
const written = ({ digits, point }, least) => {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const part = point > 0 ? digits.slice(point) : digits === '' ? '' : '0'.repeat(-point) + digits;
  return [whole, part.padEnd(least, '0')];
};

const names = ['minimumIntegerDigits', 'minimumFractionDigits', 'maximumFractionDigits', 'minimumSignificantDigits', 'maximumSignificantDigits'];
const within = (value, name, low, high, standard) => {
  if (value === undefined) return standard;
  const number = Number(value);
  if (!(number >= low && number <= high)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(number);
};
const increments = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];
const modes = ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'];

// Reads the rounding options of a formatter. `least` and `most` are the default numbers of decimals.
export const digitOptions = (options, least, most, isCompact, owner) => {
  const [whole, leastFraction, mostFraction, leastSignificant, mostSignificant] = names.map((name) => options[name]);
  const found = { whole: within(whole, names[0], 1, 21, 1) };
  found.increment = within(options.roundingIncrement, 'roundingIncrement', 1, 5000, 1);
  if (!increments.includes(found.increment)) throw new RangeError('roundingIncrement value is out of range.');
  found.mode = optionOf(options, 'roundingMode', modes, 'halfExpand', owner);
  const priority = optionOf(options, 'roundingPriority', ['auto', 'morePrecision', 'lessPrecision'], 'auto', owner);
  found.trailing = optionOf(options, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto', owner);
  if (found.increment !== 1) most = least;
  const bySignificance = leastSignificant !== undefined || mostSignificant !== undefined;
  const byFraction = leastFraction !== undefined || mostFraction !== undefined;
  const needsSignificance = priority !== 'auto' || bySignificance;
  const needsFraction = priority !== 'auto' || !(bySignificance || (!byFraction && isCompact));
  if (needsSignificance) {
    if (bySignificance) {
      const low = within(leastSignificant, names[3], 1, 21, 1);
      found.significant = [low, within(mostSignificant, names[4], low, 21, 21)];
    } else found.significant = [1, 21];
  }
  if (needsFraction) {
    if (byFraction) {
      let [low, high] = [within(leastFraction, names[1], 0, 100), within(mostFraction, names[2], 0, 100)];
      if (low === undefined) low = Math.min(least, high);
      else if (high === undefined) high = Math.max(most, low);
      else if (low > high) throw new RangeError('maximumFractionDigits value is out of range.');
      found.fraction = [low, high];
    } else found.fraction = [least, most];
  }
  if (!needsSignificance && !needsFraction) {
    Object.assign(found, { fraction: [0, 0], significant: [1, 2], type: 'morePrecision' });
  } else found.type = priority !== 'auto' ? priority : bySignificance ? 'significant' : 'fraction';
  if (found.increment !== 1) {
    if (found.type !== 'fraction') throw new TypeError('RoundingType is not fractionDigits');
    if (found.fraction[0] !== found.fraction[1]) throw new RangeError('maximumFractionDigits not equal to minimumFractionDigits');
  }
  // V8 reports the priority this way.
  found.priority = /Precision$/.test(found.type) && found.trailing === 'auto' ? found.type : 'auto';
  return found;
};

const bySignificantDigits = (number, [, most], mode) => rounded(number, most - 1 - magnitude(number), mode);
// Rounds a number with these options, and returns it with the digits to show.
export const roundedBy = (number, o) => {
  const bySignificance = o.significant === undefined ? undefined : bySignificantDigits(number, o.significant, o.mode);
  const byFraction = o.fraction === undefined ? undefined : rounded(number, o.fraction[1], o.mode, o.increment);
  let isSignificant = o.type === 'significant';
  if (o.type === 'morePrecision' || o.type === 'lessPrecision') {
    const [first, second] = [magnitude(number) - o.significant[1] + 1, -o.fraction[1]];
    isSignificant = o.type === 'morePrecision' ? first <= second : first > second;
  }
  const value = isSignificant ? bySignificance : byFraction;
  const least = isSignificant ? Math.max(0, o.significant[0] - 1 - magnitude(value)) : o.fraction[0];
  const isWhole = value.digits.length <= value.point || value.digits === '';
  const [whole, part] = written(value, o.trailing === 'stripIfInteger' && isWhole ? 0 : least);
  return { value, whole: whole.padStart(o.whole, '0'), part };
};

// Returns the rounding options in the form of `resolvedOptions`.
export const resolvedDigits = (o) => ({
  minimumIntegerDigits: o.whole,
  ...(o.significant === undefined ? {} : { minimumSignificantDigits: o.significant[0], maximumSignificantDigits: o.significant[1] }),
  ...(o.fraction === undefined ? {} : { minimumFractionDigits: o.fraction[0], maximumFractionDigits: o.fraction[1] }),
});
export const resolvedRounding = (o) => ({ roundingMode: o.mode, roundingIncrement: o.increment, trailingZeroDisplay: o.trailing, roundingPriority: o.priority });
