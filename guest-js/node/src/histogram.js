// `createHistogram` of `perf_hooks`: counts of values, which are kept with a number of significant figures as by the HDR
// histograms that Node uses.
import { illegalConstructor, invalidType, inspect, isWhole, outOfRange } from './util.js';

// What Node says of a histogram without values: the largest number of 64 bits.
const NO_MINIMUM = 2n ** 63n - 1n;

let isMaking = false;

class Histogram {
  // Counts by the smallest of the values that are not distinguished from each other, in ascending order once sorted.
  #counts = new Map();
  #isSorted = true;
  #count = 0;
  #exceeds = 0;
  #least = Infinity;
  #most = 0;
  #lowest;
  #highest;
  // Binary digits of a value that are kept after the first.
  #digits;
  constructor(lowest, highest, figures) {
    if (!isMaking) throw illegalConstructor();
    this.#lowest = 2 ** Math.floor(Math.log2(lowest));
    this.#highest = highest;
    this.#digits = Math.ceil(Math.log2(2 * 10 ** figures)) - 1;
  }
  // Returns the number of values that are not distinguished from this one.
  #width(value) {
    let width = this.#lowest;
    while (value >= width * 2 ** (this.#digits + 1)) width *= 2;
    return width;
  }
  #floor(value) {
    const width = this.#width(value);
    return Math.floor(value / width) * width;
  }
  #ceiling(value) {
    return this.#floor(value) + this.#width(value) - 1;
  }
  #middle(value) {
    return value + Math.floor(this.#width(value) / 2);
  }
  get #sorted() {
    if (!this.#isSorted) this.#counts = new Map([...this.#counts].sort(([a], [b]) => a - b));
    this.#isSorted = true;
    return this.#counts;
  }
  static add(histogram, value, count) {
    if (value > histogram.#highest) {
      histogram.#exceeds += count;
      return;
    }
    const floor = histogram.#floor(value);
    histogram.#isSorted = false;
    histogram.#counts.set(floor, (histogram.#counts.get(floor) ?? 0) + count);
    histogram.#count += count;
    histogram.#least = Math.min(histogram.#least, value);
    histogram.#most = Math.max(histogram.#most, value);
  }
  static addAll(histogram, other) {
    for (const [value, count] of other.#counts) add(histogram, value, count);
    histogram.#exceeds += other.#exceeds;
  }

  get count() {
    return this.#count;
  }
  get countBigInt() {
    return BigInt(this.#count);
  }
  get min() {
    return Number(this.minBigInt);
  }
  get minBigInt() {
    return this.#count === 0 ? NO_MINIMUM : BigInt(this.#floor(this.#least));
  }
  get max() {
    return this.#count === 0 ? 0 : this.#ceiling(this.#most);
  }
  get maxBigInt() {
    return BigInt(this.max);
  }
  get mean() {
    let sum = 0;
    for (const [value, count] of this.#sorted) sum += this.#middle(value) * count;
    return sum / this.#count;
  }
  get exceeds() {
    return this.#exceeds;
  }
  get exceedsBigInt() {
    return BigInt(this.#exceeds);
  }
  get stddev() {
    const { mean } = this;
    let sum = 0;
    for (const [value, count] of this.#sorted) sum += (this.#middle(value) - mean) ** 2 * count;
    return Math.sqrt(sum / this.#count);
  }
  percentile(percentile) {
    if (typeof percentile !== 'number') throw invalidType('percentile', 'number', percentile);
    if (!(percentile > 0 && percentile <= 100)) throw outOfRange('percentile', '> 0 && <= 100', percentile);
    let left = Math.max(Math.floor((percentile / 100) * this.#count + 0.5), 1);
    for (const [value, count] of this.#sorted) {
      left -= count;
      if (left <= 0) return this.#ceiling(value);
    }
    return 0;
  }
  percentileBigInt(percentile) {
    return BigInt(this.percentile(percentile));
  }
  // Values at 0, 50, 75, 87.5 … per cent, as far as they differ, and at 100.
  get percentiles() {
    const found = new Map();
    let wanted = 0;
    let passed = 0;
    let last = 0;
    for (const [value, count] of this.#sorted) {
      passed += count;
      last = value;
      while (wanted <= (100 * passed) / this.#count) {
        found.set(wanted, value);
        wanted += 100 / 2 ** (Math.floor(Math.log2(100 / (100 - wanted))) + 1);
        if (passed === this.#count) break;
      }
    }
    return found.set(100, last);
  }
  get percentilesBigInt() {
    return new Map([...this.percentiles].map(([percentile, value]) => [percentile, BigInt(value)]));
  }
  reset() {
    this.#counts = new Map();
    [this.#count, this.#exceeds, this.#least, this.#most] = [0, 0, Infinity, 0];
  }
  toJSON() {
    const { count, min, max, mean, exceeds, stddev, percentiles } = this;
    return { count, min, max, mean, exceeds, stddev, percentiles: Object.fromEntries(percentiles) };
  }
  [inspect.custom](depth, options) {
    if (depth < 0) return this;
    const { min, max, mean, exceeds, stddev, count, percentiles } = this;
    const inner = { ...options, depth: options.depth == null ? null : options.depth - 1 };
    return `Histogram ${inspect({ min, max, mean, exceeds, stddev, count, percentiles }, inner)}`;
  }
}
const { add, addAll } = Histogram;
delete Histogram.add;
delete Histogram.addAll;

class RecordableHistogram extends Histogram {
  #last;
  record(value) {
    if (typeof value === 'bigint') {
      if (value < 1n) throw outOfRange('value', '> 0', value);
      return add(this, Number(value), 1);
    }
    if (typeof value !== 'number') throw invalidType('val', 'number', value);
    if (!isWhole(value)) throw outOfRange('val', 'an integer', value);
    if (value < 1 || value > Number.MAX_SAFE_INTEGER) throw outOfRange('val', `>= 1 && <= ${Number.MAX_SAFE_INTEGER}`, value);
    add(this, value, 1);
  }
  // Records the nanoseconds since the last call.
  recordDelta() {
    const now = Math.round(performance.now() * 1e6);
    if (this.#last !== undefined && now > this.#last) add(this, now - this.#last, 1);
    this.#last = now;
  }
  add(other) {
    if (!(other instanceof RecordableHistogram)) throw invalidType('other', 'an instance of RecordableHistogram', other);
    addAll(this, other);
  }
}

const limit = (value, name) => {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number') throw invalidType(name, 'an integer', value);
  if (!isWhole(value)) throw outOfRange(name, 'an integer', value);
  return value;
};
export const createHistogram = (options = {}) => {
  if (options === null || typeof options !== 'object') throw invalidType('options', 'object', options);
  const { lowest = 1, highest = Number.MAX_SAFE_INTEGER, figures = 3 } = options;
  const [least, most, kept] = [limit(lowest, 'options.lowest'), limit(highest, 'options.highest'), limit(figures, 'options.figures')];
  if (least < 1) throw outOfRange('options.lowest', `>= 1 && <= ${Number.MAX_SAFE_INTEGER}`, lowest);
  if (most < 2 * least) throw outOfRange('options.highest', `>= ${2 * least} && <= ${Number.MAX_SAFE_INTEGER}`, highest);
  if (kept < 1 || kept > 5) throw outOfRange('options.figures', '>= 1 && <= 5', figures);
  isMaking = true;
  try {
    return new RecordableHistogram(least, most, kept);
  } finally {
    isMaking = false;
  }
};
