// `AssertionError`, with the messages of Node 20 about two values that differ.
import { inspect, isObject, invalidType } from './util.js';

const headings = {
  deepStrictEqual: 'Expected values to be strictly deep-equal:',
  strictEqual: 'Expected values to be strictly equal:',
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  deepEqual: 'Expected values to be loosely deep-equal:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notIdentical: 'Values have same structure but are not reference-equal:',
};
// Two values whose texts together are not longer than this are shown on one line.
const SHORT = 12;
// Number of lines that are shown of a long comparison.
const MOST_LINES = 50;

const shown = (value) =>
  inspect(value, { compact: false, customInspect: false, depth: 1000, maxArrayLength: Infinity, sorted: true, getters: true });
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 3)}...` : text);
const cutLines = (lines) => (lines.length > MOST_LINES ? [...lines.slice(0, 46), '...'] : lines);
const areBoth = (kind, a, b) => kind(a) && kind(b);
const isCallable = (value) => typeof value === 'function';

// Returns the lines that both texts end with, and their number. Three of them are shown, and the first.
const commonEnd = (actual, expected, start) => {
  let [count, end, other] = [start, '', ''];
  while (actual.length > 0 && expected.length > 0 && actual.at(-1) === expected.at(-1)) {
    if (count++ < 3) end = `\n  ${actual.at(-1)}${end}`;
    else other = actual.at(-1);
    actual.pop();
    expected.pop();
  }
  const isSkipped = count >= 5 && actual.length + expected.length > 0;
  if (isSkipped) end = `\n...${end}`;
  return { end: other === '' ? end : `\n  ${other}${end}`, isSkipped };
};

// Writer of the lines of two texts, with `+` and `-` before those that differ.
class Comparing {
  text = '';
  isSkipped = false;
  isCut = false;
  #expected = '';
  #same = 0;
  #printed = 0;
  constructor(actual, expected) {
    const most = Math.max(actual.length, expected.length);
    for (let at = 0; at < most; at++) {
      if (at >= actual.length || at >= expected.length) this.#oneSided(actual, expected, at);
      else this.#both(actual, expected, at);
      if (this.#printed > MOST_LINES && at < most - 2) {
        this.isCut = true;
        break;
      }
    }
    this.text += this.#expected;
    if (this.isCut) this.text = this.text.slice(0, this.text.length - this.#expected.length) + `\n...${this.#expected}\n...`;
  }
  #show(line) {
    this.text += line;
    this.#printed++;
  }
  // Shows the equal lines before one that differs: all if there are at most four, and otherwise both ends.
  #equalsBefore(lines, at) {
    if (this.#same > 4) {
      if (this.#same === 5) this.#show(`\n  ${lines[at - 3]}`);
      else {
        this.text += '\n...';
        this.isSkipped = true;
      }
    }
    if (this.#same > 3) this.#show(`\n  ${lines[at - 2]}`);
    if (this.#same > 2) this.#show(`\n  ${lines[at - 1]}`);
    this.#same = 0;
  }
  #oneSided(actual, expected, at) {
    const isActual = actual.length > expected.length;
    const lines = isActual ? actual : expected;
    this.#equalsBefore(lines, at);
    if (isActual) this.text += `\n+ ${lines[at]}`;
    else this.#expected += `\n- ${lines[at]}`;
    this.#printed++;
  }
  #both(actual, expected, at) {
    const line = expected[at];
    // A comma at the end of one of the lines is not a difference.
    const isSame = actual[at] === line || actual[at] === `${line},` || `${actual[at]},` === line;
    const own = `${actual[at]},` === line ? line : actual[at];
    if (isSame) {
      this.text += this.#expected;
      this.#expected = '';
      if (++this.#same <= 2) this.#show(`\n  ${own}`);
      return;
    }
    this.#equalsBefore(actual, at);
    this.text += `\n+ ${own}`;
    this.#expected += `\n- ${line}`;
    this.#printed += 2;
  }
}

const difference = (actual, expected, given, message) => {
  const isReference = given === 'strictEqual' && (areBoth(isObject, actual, expected) || areBoth(isCallable, actual, expected));
  const heading = message || headings[isReference ? 'strictEqualObject' : given];
  const lines = [shown(actual).split('\n'), shown(expected).split('\n')];
  let [start, indicator] = [0, ''];
  if (lines[0].length === 1 && lines[1].length === 1 && lines[0][0] !== lines[1][0]) {
    const [[a], [b]] = lines;
    const length = a.length + b.length;
    const areSimple = !isObject(actual) && !isObject(expected) && (actual !== 0 || expected !== 0);
    if (length <= SHORT && areSimple) return `${heading}\n\n${a} !== ${b}\n`;
    if (length > SHORT && !isReference && length < 80) {
      while (a[start] === b[start]) start++;
      if (start > 2) {
        indicator = `\n  ${' '.repeat(start)}^`;
        start = 0;
      }
    }
  }
  const all = [...lines[0]];
  const { end, isSkipped } = commonEnd(lines[0], lines[1], start);
  if (lines[0].length + lines[1].length === 0) return `${headings.notIdentical}\n\n${cutLines(all).join('\n')}\n`;
  const compared = new Comparing(...lines);
  const skipped = isSkipped || compared.isSkipped || compared.isCut ? ' ... Lines skipped' : '';
  const text = `${heading}\n+ actual - expected${skipped}\n${compared.text}`;
  return compared.isCut ? text : text + end + indicator;
};

const unequal = (actual, operator) => {
  const isReference = operator === 'notStrictEqual' && (isObject(actual) || isCallable(actual));
  const heading = headings[isReference ? 'notStrictEqualObject' : operator];
  const lines = cutLines(shown(actual).split('\n'));
  if (lines.length > 1) return `${heading}\n\n${lines.join('\n')}\n`;
  return `${heading}${lines[0].length > 5 ? '\n\n' : ' '}${lines[0]}`;
};

const loose = (actual, expected, operator) => {
  const [a, b] = [shown(actual), shown(expected)];
  if (operator === 'notDeepEqual' && a === b) return cut(`${headings.notDeepEqual}\n\n${a}`, 1024);
  const [first, second] = [cut(a, 512), cut(b, 512)];
  if (operator === 'deepEqual') return `${headings.deepEqual}\n\n${first}\n\nshould loosely deep-equal\n\n${second}`;
  if (operator === 'notDeepEqual') return `Expected values not to be loosely deep-equal:\n\n${first}\n\nshould not loosely deep-equal\n\n${second}`;
  return `${first} ${operator} ${second}`;
};

// Removes the stack of errors, which is not compared.
const withoutStack = (error) => {
  const copy = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error));
  Object.assign(copy, error);
  copy.stack = '';
  return copy;
};

const messageOf = ({ actual, expected, operator, message }) => {
  const isStrict = operator === 'deepStrictEqual' || operator === 'strictEqual';
  if (message != null) return isStrict ? difference(actual, expected, operator, String(message)) : String(message);
  if (isStrict) return difference(actual, expected, operator);
  return operator === 'notDeepStrictEqual' || operator === 'notStrictEqual' ? unequal(actual, operator) : loose(actual, expected, operator);
};

// Abbreviates a text for an error message.
const abridged = (value) => {
  if (typeof value !== 'string') return value;
  const lines = value.split('\n', 11);
  if (lines.length > 10) return `${lines.slice(0, 10).join('\n')}\n...`;
  return value.length > 512 ? `${value.slice(512)}...` : value;
};

export class AssertionError extends Error {
  constructor(options) {
    if (!isObject(options)) throw invalidType('options', 'object', options);
    let { actual, expected } = options;
    if (options.message == null && actual instanceof Error && expected instanceof Error) {
      [actual, expected] = [withoutStack(actual), withoutStack(expected)];
    }
    super(messageOf({ ...options, actual, expected }));
    this.generatedMessage = !options.message;
    const name = { value: 'AssertionError [ERR_ASSERTION]', enumerable: false, writable: true, configurable: true };
    Object.defineProperty(this, 'name', name);
    this.code = 'ERR_ASSERTION';
    Object.assign(this, { actual, expected, operator: options.operator });
    // The first line of the stack contains the code, but the name does not.
    Error.captureStackTrace(this, options.stackStartFn ?? options.stackStartFunction ?? AssertionError);
    void this.stack;
    this.name = 'AssertionError';
  }
  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
  [inspect.custom](depth, options) {
    const { actual, expected } = this;
    Object.assign(this, { actual: abridged(actual), expected: abridged(expected) });
    const text = inspect(this, { ...options, customInspect: false, depth: 0 });
    Object.assign(this, { actual, expected });
    return text;
  }
}
