// Random calls of the built-in library (methods of all kinds of receivers, with odd arguments) under the Node that runs this
// and under Tollhouse: what they give, and what their errors say. `node builtins.mjs TOLLHOUSE [SEED [COUNT]]` shrinks the
// calls that differ, prints one of each method and kind of error, and ends with 1 if there are any.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [tollhouse, seed = '1', count = '4000'] = process.argv.slice(2);

let state = Number(seed) | 0;
const random = (below) => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
};
const oneOf = (list) => list[random(list.length)];

// Receivers of each class, as source text. A property that a later engine than the reference has is never called.
const receivers = {
  String: ['"abc"', '""', '"  Hello, World "', '"a,b,,c"', '"ÄöÜß€"', '"😀👍🏽e\\u0301"', '"12.50"', '"\\ud800x"', '"aXbXcX"', '"line\\nbreak\\r\\n"', '"$1 $& $$"', '"İıſK"', 'new String("obj")'],
  Array: ['[]', '[1, 2, 3]', '[3, 1, 2, 10, 1]', '["b", "a", "C"]', '[1, , 3]', '[[1, [2, [3]]], 4]', '[NaN, 0, -0, null, undefined]', '[1n, "1", true]', '[{ a: 1 }, { a: 2 }]', 'Object.freeze([1, 2])', 'new (class Own extends Array {})(1, 2, 3)', '[5, 4, 3, 2, 1, 0, 11]'],
  Number: ['(0)', '(-0)', '(1)', '(-1.5)', '(255)', '(0.1 + 0.2)', '(1e21)', '(1e-7)', '(123456.789)', '(NaN)', '(Infinity)', '(1.005)', '(2 ** 53)', '(5e-324)', '(1.7976931348623157e308)', '(0.000001)', '(25)', '(-1e21)'],
  BigInt: ['(0n)', '(5n)', '(-255n)', '(2n ** 64n)', '(12345678901234567890n)'],
  Boolean: ['true', 'false', 'new Boolean(false)'],
  Symbol: ['Symbol("s")', 'Symbol()', 'Symbol.iterator', 'Symbol.for("k")'],
  Date: ['new Date(0)', 'new Date(2024, 1, 29, 12, 34, 56, 789)', 'new Date(NaN)', 'new Date(-1)', 'new Date(8.64e15)', 'new Date("1999-12-31T23:59:59.999Z")', 'new Date(-62198755200000)', 'new Date(253402300800000)'],
  RegExp: ['/a/', '/(?<y>\\d{4})-(?<m>\\d\\d)/g', '/[a-z]+/gi', '/x*/g', '/^.*$/m', '/(a)|(b)/dg', '/o/y', '/\\p{L}+/gu', '/[\\p{L}--[a-z]]/v', '/(?<=a)b/', '/\\u{1F600}/u', '/(?:)/s', '/./su', 'new RegExp("/\\n")'],
  Map: ['new Map()', 'new Map([["a", 1], ["b", [2]]])', 'new Map([[NaN, 0], [-0, "z"]])'],
  Set: ['new Set()', 'new Set([1, 2, 3])', 'new Set(["a", NaN, {}])'],
  WeakMap: ['new WeakMap()'],
  WeakSet: ['new WeakSet()'],
  Uint8Array: ['new Uint8Array([1, 2, 255])', 'new Uint8Array(0)'],
  Int16Array: ['new Int16Array([-1, 40000, 7])'],
  Float64Array: ['new Float64Array([0.5, NaN, -0, 3])'],
  Float32Array: ['new Float32Array([1.1, 2.5])'],
  BigInt64Array: ['new BigInt64Array([1n, -1n])'],
  Uint8ClampedArray: ['new Uint8ClampedArray([300, -5, 1.5])'],
  ArrayBuffer: ['new ArrayBuffer(8)', 'new ArrayBuffer(0)', 'new ArrayBuffer(2, { maxByteLength: 4 })'],
  DataView: ['new DataView(new ArrayBuffer(8))', 'new DataView(new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 255]).buffer, 1)'],
  Function: ['(function named(a, b) {})', '((a, b = 1) => a)', '(class Foo { static s = 1 })', 'Math.max', '(async () => 1)', '(function* () { yield 1 })', 'parseInt', '(() => {}).bind(null)'],
  Object: ['({})', '({ a: 1, b: "x" })', '({ __proto__: null, z: 1 })', '({ get g() { return 1 } })', 'Object.freeze({ f: 1 })', '({ toString: () => "ts" })', '({ valueOf: () => 7 })', '({ 2: "b", 1: "a", c: 0 })'],
  Error: ['new Error("msg")', 'new TypeError("t", { cause: 1 })', 'new RangeError()', 'new AggregateError([1, 2], "agg")'],
  Generator: ['(function* () { yield 1; return 2 })()', '(function* () { try { yield 1 } finally { yield 2 } })()'],
  Proxy: ['new Proxy({ p: 1 }, {})', 'new Proxy([1, 2], {})'],
};
const statics = ['Object', 'Array', 'String', 'Number', 'BigInt', 'Date', 'Math', 'JSON', 'Reflect', 'Symbol', 'Promise', 'Map', 'ArrayBuffer', 'Uint8Array', 'Proxy', 'Intl', 'Buffer', 'URL', 'Function', 'Error'];
const constructors = ['Object', 'Array', 'String', 'Number', 'BigInt', 'Boolean', 'Date', 'RegExp', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'Uint8Array', 'Float64Array', 'BigUint64Array', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Error', 'RangeError', 'AggregateError', 'Promise', 'Proxy', 'Symbol', 'URL', 'URLSearchParams', 'TextDecoder', 'TextEncoder', 'Blob', 'Event', 'Headers'];
const functions = ['parseInt', 'parseFloat', 'isNaN', 'isFinite', 'encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'escape', 'unescape', 'structuredClone', 'btoa', 'atob', 'String', 'Number', 'BigInt', 'Boolean', 'Symbol', 'Object', 'Array', 'RegExp', 'queueMicrotask'];
const argumentTexts = [
  'undefined', 'null', 'true', 'false', '0', '-0', '1', '-1', '2', '3', '10', '16', '36', '37', '100', '101', '1.5', 'NaN', 'Infinity', '-Infinity', '2 ** 31', '2 ** 32', '2 ** 53', '-(2 ** 31)', '1e21',
  '""', '"a"', '"X"', '"abc"', '"1"', '" 12 "', '"0x10"', '"1e3"', '"length"', '"__proto__"', '"😀"', '"g"', '"gg"', '"u"', '"("', '"["', '"\\\\"', '"$1"', '"$<y>"', '"NFD"', '"nope"', '"default"', '"2024-02-30"', '"%"', '"%41"', '"en-US"', '"de"', '"xx-invalid-"', '"utf8"', '"hex"', '"[1,2"', '"{\\"a\\":1}"', '"http://u:p@h:8/p?q=1#f"',
  '1n', '-1n', '2n ** 64n', 'Symbol("arg")', 'Symbol.iterator',
  '[]', '[1, 2]', '["a"]', '[[1, 2]]', '[["a", 1], ["b", 2]]', '[1, , 3]', '{}', '{ a: 1 }', '{ length: 2, 0: "x" }', '{ length: -1 }', '{ valueOf: () => 3 }', '{ toString: () => "ts" }', '{ valueOf() { return {} }, toString() { return {} } }', '{ get value() { throw new Error("got") } }', '{ value: 1 }', '{ get: 1 }', '{ [Symbol.toPrimitive]: () => 1n }', '{ [Symbol.iterator]: 1 }', '{ [Symbol.iterator]: () => ({}) }', '{ then: 1 }', 'Object.create(null)',
  '() => 1', '(x) => x', '(a, b) => a - b', '(a, b) => b', '(x, i) => [x, i]', '(x) => x > 1', '() => { throw new TypeError("cb") }', 'function () { return this }', 'class Foo {}', 'Math.max', 'async () => 1', 'function* () {}', 'Boolean', 'String', 'Array', 'Object',
  '/a/', '/(.)/g', '/X/y', 'new Date(0)', 'new Date(NaN)', 'new Map([["a", 1]])', 'new Set([1, 5])', 'new Uint8Array([1, 2])', 'new ArrayBuffer(4)', 'new DataView(new ArrayBuffer(2))', 'new Error("arg")', 'new Proxy({}, {})', 'Buffer.from("hi")', 'new WeakMap()', 'Promise.resolve(1)', '[1, 2].values()', '(function* () { yield 1; yield 2 })()', 'globalThis', 'new String("s")', 'new Number(4)', 'Object(1n)', 'Object(Symbol("o"))', 'new Int8Array(3)', 'new BigInt64Array(1)', 'arguments',
];
// Properties with results of their own at each call, or that stop the script.
const avoided = /^(?:constructor|name|length|now|random|caller|arguments|exit|allocUnsafe\w*|poolSize|captureStackTrace|prepareStackTrace|stack|getCanonicalLocales|localeCompare|toLocale\w*|supported\w*|__\w+|createObjectURL|revokeObjectURL|nodeModuleFile|parent|inspect|hrtime|wait\w*|isBuffer|setPrototypeOf|asyncWrite|waitAsync|stackTraceLimit|(?:\w+Slice|\w+Write))$/;
const newer = /^(?:groupBy|fromAsync|try|withResolvers|union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom|getOrInsert\w*|sumPrecise|f16round|\w*Float16|\w*16round|isError|rawJSON|isRawJSON|escape|fromBase64|fromHex|transfer\w*|detached|concat)$/;

const methodsOf = (value) => {
  const names = new Set();
  for (let at = Object(value); at && at !== Object.prototype; at = Object.getPrototypeOf(at)) for (const name of Reflect.ownKeys(at)) names.add(name);
  if (value === Object.prototype || Object.getPrototypeOf(Object(value)) === Object.prototype) for (const name of Reflect.ownKeys(Object.prototype)) names.add(name);
  return [...names].filter((name) => typeof name === 'symbol' ? name.description.startsWith('Symbol.') && Symbol[name.description.slice(7)] === name : !avoided.test(name));
};
const named = (name) => (typeof name === 'symbol' ? `[${name.description}]` : /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);
const evaluate = (text) => (0, eval)(`(${text})`);
const methods = new Map(Object.entries(receivers).map(([kind, [first]]) => [kind, methodsOf(evaluate(first))]));
const staticMethods = new Map(statics.map((name) => [name, Reflect.ownKeys(globalThis[name]).filter((key) => typeof key === 'string' && !avoided.test(key) && typeof globalThis[name][key] === 'function')]));
const wrap = (text) => (text.startsWith('{') || text.startsWith('class') || text.startsWith('function') || text.includes('=>') || text.startsWith('async') ? `(${text})` : text);
const anyArguments = () => Array.from({ length: oneOf([0, 1, 1, 1, 2, 2, 3]) }, () => oneOf(argumentTexts));

// A call: the text before its arguments, a receiver that can be replaced or null, and the arguments.
const generate = () => {
  const choice = random(20);
  if (choice < 11) {
    const kind = oneOf(Object.keys(receivers));
    return { kind, receiver: oneOf(receivers[kind]), method: named(oneOf(methods.get(kind))), args: anyArguments() };
  }
  if (choice < 13) {
    // A method of one class called on a receiver of another.
    const kind = oneOf(Object.keys(receivers).filter((name) => typeof globalThis[name] === 'function' && name !== 'Proxy'));
    const name = oneOf(methods.get(kind));
    return { kind, receiver: null, method: `${kind}.prototype${named(name)}.call`, args: [oneOf([...argumentTexts, ...receivers[kind]]), ...anyArguments()] };
  }
  if (choice < 17) {
    const kind = oneOf(statics);
    return { kind, receiver: null, method: `${kind}${named(oneOf(staticMethods.get(kind)))}`, args: anyArguments() };
  }
  if (choice < 19) return { kind: 'new', receiver: null, method: `new ${oneOf(constructors)}`, args: anyArguments() };
  return { kind: 'function', receiver: null, method: oneOf(functions), args: anyArguments() };
};
const textOf = ({ receiver, method, args }) => `${receiver === null ? '' : wrap(receiver)}${method}(${args.map(wrap).join(', ')})`;

const prelude = `const util = require('util');
const show = (value) => util.inspect(value, { depth: 4, breakLength: Infinity }).replace(/\\n +at .*/g, '').replace(/timeStamp: [\\d.]+/, 'timeStamp');
const t = (f) => {
  let told;
  try {
    const value = f();
    if (Array.isArray(value) && value.length > 1e6) return console.log('"long"');
    told = typeof value === 'object' && value !== null && typeof value.next === 'function' && !Array.isArray(value)
      ? show(value) + ' ' + show([value.next(), value.next(), value.next()]) : show(value);
    if (value instanceof Promise) value.catch(() => {});
  } catch (error) {
    told = error instanceof Error ? 'throws ' + error.name + (error.code ? ' [' + error.code + ']' : '') + ': ' + error.message : 'throws ' + show(error);
  }
  console.log(JSON.stringify(told.slice(0, 2000)));
};
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => {});
`;
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'builtins-'));
const env = { PATH: process.env.PATH, TOLLHOUSE_HOME: home, HOME: home, TZ: 'UTC', LANG: 'en_US.UTF-8' };
const options = { cwd: home, env, encoding: 'utf8', maxBuffer: 1 << 30 };
const runs = (calls) => {
  const results = [];
  for (let at = 0; at < calls.length; at += 500) {
    const part = calls.slice(at, at + 500);
    fs.writeFileSync(path.join(home, 'calls.cjs'), prelude + part.map((call) => `t(function () { return ${textOf(call)} });\n`).join(''));
    const lines = [[process.execPath, ['calls.cjs']], [tollhouse, ['run', '--limit', 'output=64MiB', 'calls.cjs']]].map(([program, words]) => {
      const ran = spawnSync(program, words, options);
      const printed = ran.stdout.split('\n').slice(0, part.length);
      if (printed.length < part.length || ran.error) throw new Error(`${program}: ${ran.error ?? ''}${ran.stderr.slice(0, 2000)}\nafter ${printed.length}: ${textOf(part[printed.length - 1] ?? part[0])}`);
      return printed;
    });
    for (const index of part.keys()) results.push([lines[0][index], lines[1][index]]);
  }
  return results;
};
const differing = (calls) => {
  const results = runs(calls);
  return calls.map((call, at) => ({ call, node: results[at][0], here: results[at][1] })).filter(({ node, here }) => node !== here);
};
const simpler = (call) => {
  const found = [];
  if (call.args.length > 0) found.push({ ...call, args: call.args.slice(0, -1) });
  for (const [at, text] of call.args.entries()) for (const plain of ['undefined', '0', '"a"', '{}']) if (text !== plain && !['undefined', '0', '"a"'].includes(text)) found.push({ ...call, args: call.args.with(at, plain) });
  if (call.receiver !== null && call.receiver !== receivers[call.kind][0]) found.push({ ...call, receiver: receivers[call.kind][0] });
  return found;
};
const usable = (call) => !call.method.split(/[.[]/).some((word) => newer.test(word.replace(']', '')) && !/^(?:concat|escape)$/.test(word)) || /\.(?:concat|escape)/.test(call.method);

const calls = Array.from({ length: Number(count) }, generate).filter(usable);
let found = differing(calls);
const total = found.length;
const signature = ({ call, node, here }) => `${call.kind} ${call.method} ${/^"throws \w+/.exec(node)?.[0] ?? 'value'} ${/^"throws \w+/.exec(here)?.[0] ?? 'value'}`;
const firsts = new Map();
for (const one of found) if (!firsts.has(signature(one))) firsts.set(signature(one), one);
found = [...firsts.values()];
for (let round = 0; round < 4; round++) {
  const attempts = found.map((one) => simpler(one.call));
  const still = new Map();
  for (const one of differing(attempts.flat())) if (!still.has(one.call)) still.set(one.call, one);
  let changed = false;
  found = found.map((one, at) => {
    const next = attempts[at].find((call) => still.has(call));
    if (next !== undefined) changed = true;
    return next === undefined ? one : still.get(next);
  });
  if (!changed) break;
}
const kinds = new Map();
for (const one of found) if (!kinds.has(signature(one))) kinds.set(signature(one), one);
for (const { call, node, here } of kinds.values()) console.log(`${textOf(call)}\n  Node: ${node}\n  here: ${here}`);
fs.rmSync(home, { recursive: true });
console.log(`${calls.length} calls; ${total} differ, of ${kinds.size} kinds`);
process.exit(total === 0 ? 0 : 1);
