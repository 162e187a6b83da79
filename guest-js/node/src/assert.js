// `assert`, with the conditions and messages of Node 20. The library decides about deep equality.
import { absent } from './absent.js';
import { isDeepEqual, isDeepStrictEqual } from '../node_modules/assert/build/internal/util/comparisons.js';
import { AssertionError } from './assert-message.js';
import fs from './fs.js';
import util, { codedError, inspect, invalidType, invalidValue, isObject, setDeepEqual } from './util.js';

setDeepEqual(isDeepStrictEqual);
const { types } = util;
const none = Symbol('none');

const failed = (details) => {
  if (details.message instanceof Error) throw details.message;
  throw new AssertionError(details);
};
const missing = (...names) => codedError(TypeError, 'ERR_MISSING_ARGS', `The ${names.map((name) => `"${name}"`).join(' and ')} argument${names.length > 1 ? 's' : ''} must be specified`);

// Returns the text of the call that the first frame of a stack points to; undefined if it cannot be read.
const callText = (stack) => {
  const [, name, line, column] = /\n\s+at (?:.*\()?([^()\n]+):(\d+):(\d+)\)?(?:\n|$)/.exec(stack) ?? [];
  if (name === undefined) return undefined;
  let source = host.native.scriptText(name);
  try {
    source ??= fs.readFileSync(name, 'utf8');
  } catch {
    return undefined;
  }
  return host.native.callText(name, source, Number(line), Number(column)) ?? undefined;
};

const holds = (caller, values) => {
  const [value, message] = values;
  if (value) return;
  if (message instanceof Error) throw message;
  const details = { actual: value, expected: true, operator: '==', message, stackStartFn: caller };
  if (values.length > 0 && message != null) throw Object.assign(new AssertionError(details), { generatedMessage: false });
  details.message = 'No value argument passed to `assert.ok()`';
  if (values.length > 0) {
    const holder = {};
    Error.captureStackTrace(holder, caller);
    const call = callText(holder.stack);
    details.message = call === undefined ? 'false == true' : `The expression evaluated to a falsy value:\n\n  ${call}\n`;
  }
  throw Object.assign(new AssertionError(details), { generatedMessage: true });
};
const ok = (...values) => holds(ok, values);
const assert = (...values) => holds(assert, values);

// Functions that compare two values: when they fail, and the name of the comparison.
const comparisons = {
  equal: ['==', (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b))],
  notEqual: ['!=', (a, b) => a != b && !(Number.isNaN(a) && Number.isNaN(b))],
  deepEqual: ['deepEqual', isDeepEqual],
  notDeepEqual: ['notDeepEqual', (a, b) => !isDeepEqual(a, b)],
  deepStrictEqual: ['deepStrictEqual', isDeepStrictEqual],
  notDeepStrictEqual: ['notDeepStrictEqual', (a, b) => !isDeepStrictEqual(a, b)],
  strictEqual: ['strictEqual', Object.is],
  notStrictEqual: ['notStrictEqual', (a, b) => !Object.is(a, b)],
};
for (const [name, [operator, compare]] of Object.entries(comparisons)) {
  assert[name] = {
    [name](actual, expected, message) {
      if (arguments.length < 2) throw missing('actual', 'expected');
      if (!compare(actual, expected)) failed({ actual, expected, message, operator, stackStartFn: assert[name] });
    },
  }[name];
}

const fail = function fail(actual, expected, message, operator) {
  const isMessage = arguments.length === 1 && actual != null;
  if (arguments.length <= 1) [actual, message] = [undefined, isMessage ? actual : 'Failed'];
  if (message instanceof Error) throw message;
  const standard = arguments.length === 2 ? '!=' : 'fail';
  const error = new AssertionError({ actual, expected, message, operator: operator ?? standard, stackStartFn: fail });
  if (arguments.length <= 1 && !isMessage) error.generatedMessage = true;
  throw error;
};

// Properties of an error, and the expected ones, in a comparable form.
class Comparison {
  constructor(from, keys, other) {
    for (const key of keys) {
      if (!(key in from)) continue;
      const matches = typeof other?.[key] === 'string' && types.isRegExp(from[key]) && from[key].test(other[key]);
      this[key] = matches ? other[key] : from[key];
    }
  }
}
const checkProperties = (actual, expected, message, caller) => {
  const operator = caller.name;
  if (!isObject(actual)) {
    throw Object.assign(new AssertionError({ actual, expected, message, operator: 'deepStrictEqual', stackStartFn: caller }), { operator });
  }
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push('name', 'message');
  else if (keys.length === 0) throw invalidValue('error', expected, 'may not be an empty object');
  for (const key of keys) {
    if (typeof actual[key] === 'string' && types.isRegExp(expected[key]) && expected[key].test(actual[key])) continue;
    if (key in actual && isDeepStrictEqual(actual[key], expected[key])) continue;
    if (message) failed({ actual, expected, message, operator, stackStartFn: caller });
    const shown = { actual: new Comparison(actual, keys), expected: new Comparison(expected, keys, actual) };
    throw Object.assign(new AssertionError({ ...shown, operator: 'deepStrictEqual', stackStartFn: caller }), { actual, expected, operator });
  }
};

const isErrorClass = (value) => typeof value === 'function' && (value === Error || Error.isPrototypeOf(value));
const otherClass = (actual, expected) => {
  const head = `The error is expected to be an instance of "${expected.name}". Received `;
  if (!types.isNativeError(actual)) return `${head}"${inspect(actual, { depth: -1 })}"`;
  const name = actual.constructor?.name || actual.name;
  const told = expected.name === name ? 'an error with identical name but a different prototype.' : `"${name}"`;
  return `${head}${told}${actual.message ? `\n\nError message:\n\n${actual.message}` : ''}`;
};
// Returns the reason why an error is not the expected one; undefined if it is.
const mismatch = (actual, expected) => {
  if (types.isRegExp(expected)) {
    const text = String(actual);
    return expected.exec(text) === null ? `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(text)}\n` : undefined;
  }
  if (expected.prototype !== undefined && actual instanceof expected) return undefined;
  if (isErrorClass(expected)) return otherClass(actual, expected);
  const result = Reflect.apply(expected, {}, [actual]);
  if (result === true) return undefined;
  const caught = types.isNativeError(actual) ? `\n\nCaught error:\n\n${actual}` : '';
  return `The ${expected.name ? `"${expected.name}" ` : ''}validation function is expected to return "true". Received ${inspect(result)}${caught}`;
};

const expectsError = (caller, actual, ...given) => {
  let [error, message] = given;
  const expectedKinds = 'of type function or an instance of Error, RegExp, or Object';
  if (typeof error === 'string') {
    if (given.length === 2) throw invalidType('error', expectedKinds, error);
    if ((isObject(actual) ? actual.message : actual) === error) {
      const what = isObject(actual) ? `error message "${actual.message}"` : `error "${actual}"`;
      throw codedError(TypeError, 'ERR_AMBIGUOUS_ARGUMENT', `The "error/message" argument is ambiguous. The ${what} is identical to the message.`);
    }
    [error, message] = [undefined, error];
  } else if (error != null && typeof error !== 'object' && typeof error !== 'function') throw invalidType('error', expectedKinds, error);
  if (actual === none) {
    const kind = caller === assert.rejects ? 'rejection' : 'exception';
    const what = `${error?.name ? ` (${error.name})` : ''}${message ? `: ${message}` : '.'}`;
    failed({ actual: undefined, expected: error, operator: caller.name, message: `Missing expected ${kind}${what}`, stackStartFn: caller });
  }
  if (!error) return;
  if (typeof error !== 'function' && !types.isRegExp(error)) return checkProperties(actual, error, message, caller);
  const reason = mismatch(actual, error);
  if (reason === undefined) return;
  if (message instanceof Error) throw message;
  const failure = new AssertionError({ actual, expected: error, message: message || reason, operator: caller.name, stackStartFn: caller });
  throw Object.assign(failure, { generatedMessage: !message });
};

const isExpected = (actual, expected) => {
  if (types.isRegExp(expected)) return expected.test(String(actual));
  if (typeof expected !== 'function') throw invalidType('expected', 'of type function or an instance of RegExp', expected);
  if (expected.prototype !== undefined && actual instanceof expected) return true;
  return !isErrorClass(expected) && Reflect.apply(expected, {}, [actual]) === true;
};
const expectsNoError = (caller, actual, error, message) => {
  if (actual === none) return;
  if (typeof error === 'string') [error, message] = [undefined, error];
  if (error && !isExpected(actual, error)) throw actual;
  const kind = caller === assert.doesNotReject ? 'rejection' : 'exception';
  const text = `Got unwanted ${kind}${message ? `: ${message}` : '.'}\nActual message: "${actual?.message}"`;
  failed({ actual, expected: error, operator: caller.name, message: text, stackStartFn: caller });
};

const thrownBy = (work) => {
  if (typeof work !== 'function') throw invalidType('fn', 'function', work);
  try {
    work();
  } catch (error) {
    return error;
  }
  return none;
};
const isPromise = (value) => types.isPromise(value) || (isObject(value) && typeof value.then === 'function' && typeof value.catch === 'function');
const rejectionOf = async (given) => {
  const promise = typeof given === 'function' ? given() : given;
  if (!isPromise(promise)) {
    if (typeof given !== 'function') throw invalidType('promiseFn', 'of type function or an instance of Promise', given);
    const told = isObject(promise) ? `an instance of ${promise.constructor?.name}` : promise == null ? `${promise}` : `type ${typeof promise} (${inspect(promise)})`;
    throw codedError(TypeError, 'ERR_INVALID_RETURN_VALUE', `Expected instance of Promise to be returned from the "promiseFn" function but got ${told}.`);
  }
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return none;
};

const matches = (text, pattern, message, caller) => {
  if (!types.isRegExp(pattern)) throw invalidType('regexp', 'an instance of RegExp', pattern);
  const isMatch = caller === assert.match;
  if (typeof text === 'string' && (pattern.exec(text) !== null) === isMatch) return;
  if (message instanceof Error) throw message;
  const words = isMatch ? 'The input did not match the regular expression' : 'The input was expected to not match the regular expression';
  const reason = typeof text === 'string' ? `${words} ${inspect(pattern)}. Input:\n\n${inspect(text)}\n` : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
  const failure = new AssertionError({ actual: text, expected: pattern, message: message || reason, operator: caller.name, stackStartFn: caller });
  throw Object.assign(failure, { generatedMessage: !message });
};

const ifError = (given) => {
  if (given === null || given === undefined) return;
  const isError = isObject(given) && typeof given.message === 'string';
  const told = !isError ? inspect(given) : given.message || given.constructor?.name || '';
  throw new AssertionError({ actual: given, expected: null, operator: 'ifError', message: `ifError got unwanted exception: ${told}`, stackStartFn: ifError });
};

Object.assign(assert, {
  AssertionError,
  ok,
  fail,
  ifError,
  throws: function throws(work, ...given) {
    expectsError(throws, thrownBy(work), ...given);
  },
  doesNotThrow: function doesNotThrow(work, ...given) {
    expectsNoError(doesNotThrow, thrownBy(work), ...given);
  },
  rejects: async function rejects(promise, ...given) {
    expectsError(rejects, await rejectionOf(promise), ...given);
  },
  doesNotReject: async function doesNotReject(promise, ...given) {
    expectsNoError(doesNotReject, await rejectionOf(promise), ...given);
  },
  match: (text, pattern, message) => matches(text, pattern, message, assert.match),
  doesNotMatch: (text, pattern, message) => matches(text, pattern, message, assert.doesNotMatch),
});

const strict = (...values) => holds(strict, values);
assert.strict = Object.assign(strict, assert, {
  equal: assert.strictEqual,
  deepEqual: assert.deepStrictEqual,
  notEqual: assert.notStrictEqual,
  notDeepEqual: assert.notDeepStrictEqual,
});
strict.strict = strict;
assert.CallTracker = absent('assert', 'CallTracker', 'use `mock.fn()` of `node:test`');
assert.strict.CallTracker = assert.CallTracker;
export default assert;
