// `util`. The prelude formats values, for `util` as for `console`.
import { parseVariables } from './env-files.js';
import { MIMEParams, MIMEType } from './mime.js';

const { native, inspect: inspectValue, formatLine, nodeError, received } = host;
// Original function, which a script cannot replace.
export const { isInteger: isWhole } = Number;

export const inspect = (value, options, ...legacy) => {
  if (typeof options === 'boolean') return inspectValue(value, { showHidden: options, depth: legacy[0], ...(legacy[1] === undefined ? {} : { colors: legacy[1] }) });
  return inspectValue(value, options);
};
host.setPublicInspect(inspect);
inspect.custom = Symbol.for('nodejs.util.inspect.custom');
Object.defineProperty(inspect, 'defaultOptions', {
  get: () => host.inspectOptions,
  set(options) {
    if (options === null || typeof options !== 'object') throw invalidType('options', 'object', options);
    Object.assign(host.inspectOptions, options);
  },
});
inspect.colors = host.inspectColors;
inspect.styles = host.inspectStyles;

export const format = (...values) => formatLine(values);
export const formatWithOptions = (options, ...values) => formatLine(values, options);

export const promisify = (original) => {
  if (typeof original !== 'function') {
    throw invalidType('original', 'function', original);
  }
  if (original[promisify.custom]) return original[promisify.custom];
  const promised = function (...values) {
    return new Promise((resolve, reject) => {
      original.call(this, ...values, (error, ...results) => (error ? reject(error) : resolve(results[0])));
    });
  };
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
};
promisify.custom = Symbol.for('nodejs.util.promisify.custom');
globalThis.setTimeout[promisify.custom] = (delay, value) => new Promise((resolve) => setTimeout(resolve, delay, value));
globalThis.setImmediate[promisify.custom] = (value) => new Promise((resolve) => setImmediate(resolve, value));
for (const timer of [globalThis.setTimeout, globalThis.setImmediate]) {
  Object.defineProperty(timer, promisify.custom, { enumerable: false });
}

// Modules that this one uses, in their original form: a script may replace the globals.
const modules = {};
export const provide = (provided) => Object.assign(modules, provided);
export const emitWarning = (warning) => modules.process.emitWarning(warning);

export const callbackify = (original) => {
  if (typeof original !== 'function') throw invalidType('original', 'function', original);
  return function (...values) {
    const callback = values.pop();
    if (typeof callback !== 'function') throw invalidType('last argument', 'function', callback);
    const later = (...results) => modules.process.nextTick(() => callback(...results));
    const falsy = (reason) => Object.assign(codedError(Error, 'ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with falsy value'), { reason });
    original.apply(this, values).then((result) => later(null, result), (error) => later(error || falsy(error)));
  };
};

export const inherits = (constructor, parent) => {
  if (constructor == null) throw invalidType('ctor', 'function', constructor);
  if (parent == null) throw invalidType('superCtor', 'function', parent);
  if (parent.prototype === undefined) throw invalidType('superCtor.prototype', 'object', undefined);
  Object.defineProperty(constructor, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
};

const deprecations = new Set();
export const deprecate = (work, message, code) => {
  if (typeof work !== 'function') throw invalidType('fn', 'function', work);
  let told = false;
  const warned = function (...values) {
    if (!told && !deprecations.has(code)) modules.process.emitWarning(message, 'DeprecationWarning', code);
    told = true;
    if (code !== undefined) deprecations.add(code);
    return new.target ? Reflect.construct(work, values, new.target) : Reflect.apply(work, this, values);
  };
  Object.setPrototypeOf(warned, work);
  if (work.prototype) warned.prototype = work.prototype;
  Object.defineProperty(warned, 'name', { value: 'deprecated', configurable: true });
  return Object.defineProperty(warned, 'length', { value: work.length, configurable: true });
};
export const debuglog = () => Object.assign(() => {}, { enabled: false });
export const debug = debuglog;
export const stripVTControlCharacters = (text) => checkText('str', text).replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u001b\u009b]\[?[0-?]*[ -/]*[@-~]/g, '');
export const toUSVString = (text) => String(text).toWellFormed();
const codesOf = (format) => {
  const codes = inspect.colors[format];
  if (codes != null) return codes.map((code) => `\u001b[${code}m`);
  throw invalidValue('format', format, `must be one of: ${Object.keys(inspect.colors).map((known) => `'${known}'`).join(', ')}`);
};
const isStream = (value) => typeof value?.getReader === 'function' || typeof value?.getWriter === 'function' || (typeof value?.on === 'function' && (typeof value.write === 'function' || typeof value.pipe === 'function'));
export const styleText = (format, text, { validateStream = true, stream = modules.process.stdout } = {}) => {
  checkText('text', text);
  if (typeof validateStream !== 'boolean') throw invalidType('options.validateStream', 'boolean', validateStream);
  if (validateStream && !isStream(stream)) throw invalidType('stream', 'an instance of ReadableStream, WritableStream, or Stream', stream);
  if (Array.isArray(format)) return format.map(codesOf).reduceRight((inner, [open, close]) => open + inner + close, text);
  const [open, close] = codesOf(format);
  // As in Node: a single style applies to terminals only, and no stream is one here.
  return validateStream ? text : open + text + close;
};
export const aborted = async (signal, resource) => {
  if (!(signal instanceof AbortSignal)) throw invalidType('signal', 'an instance of AbortSignal', signal);
  if (resource === null || typeof resource !== 'object') throw invalidType('resource', 'object', resource);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
};
export const getSystemErrorName = (number) => {
  if (typeof number !== 'number') throw invalidType('err', 'number', number);
  if (number >= 0 || !Number.isSafeInteger(number)) throw outOfRange('err', 'a negative integer', number);
  return Object.entries(host.errnos).find(([, known]) => known === number || known === -number)?.[0] ?? `Unknown system error ${number}`;
};
export const getSystemErrorMap = () =>
  new Map(Object.entries(host.errnos).map(([name, number]) => [-Math.abs(number), [name, host.systemError(name, '').message.replace(/^\w+: |, *$/g, '')]]));
export const _extend = (target, source) => (source !== null && typeof source === 'object' ? Object.assign(target, source) : target);
export const isBuffer = (value) => value instanceof modules.Buffer;

// Gives an error a code, as Node's own errors have it.
export const codedError = (Class, code, message) => nodeError(new Class(message), code);
class AbortError extends Error {
  constructor(signal) {
    super('The operation was aborted', { cause: signal.reason });
    this.code = 'ABORT_ERR';
  }
}
Object.defineProperty(AbortError.prototype, 'name', { value: 'AbortError', writable: true, configurable: true });
// Returns the error with which a waiting operation ends when its signal is aborted.
export const illegalConstructor = () => codedError(TypeError, 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
export const abortError = (signal) => new AbortError(signal);
const checkText = (name, value) => {
  if (typeof value !== 'string') throw invalidType(name, 'string', value);
  return value;
};
export const invalidType = (name, expected, value) =>
  codedError(
    TypeError,
    'ERR_INVALID_ARG_TYPE',
    `The "${name}" ${name.includes('.') ? 'property' : 'argument'} must be ${/^[a-z]/.test(expected) && !/^(an?|of|one) /.test(expected) ? `of type ${expected}` : expected}.${received(value)}`,
  );

export const invalidValue = (name, value, reason = 'is invalid') =>
  codedError(TypeError, 'ERR_INVALID_ARG_VALUE', `The ${name.includes('.') ? 'property' : 'argument'} '${name}' ${reason}. Received ${inspect(value)}`);

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, '_');
export const outOfRange = (name, range, value) => {
  const long = (typeof value === 'bigint' && (value > 2n ** 32n || value < -(2n ** 32n))) || (isWhole(value) && Math.abs(value) > 2 ** 32);
  const shown = typeof value === 'bigint' ? `${long ? grouped(String(value)) : value}n` : long ? grouped(String(value)) : inspect(value);
  return codedError(RangeError, 'ERR_OUT_OF_RANGE', `The value of "${name}" is out of range. It must be ${range}. Received ${shown}`);
};

const classIs = (...names) => (value) => names.includes(native.className(value));
const tagOf = (value) => (ArrayBuffer.isView(value) && native.className(value) !== 'DataView' ? value[Symbol.toStringTag] : undefined);
const functionKind = (...names) => (value) => typeof value === 'function' && names.includes(native.className(value));
export const types = {
  isAnyArrayBuffer: classIs('ArrayBuffer', 'SharedArrayBuffer'),
  isArrayBuffer: classIs('ArrayBuffer'),
  isArrayBufferView: ArrayBuffer.isView,
  isArgumentsObject: classIs('Arguments'),
  isAsyncFunction: functionKind('AsyncFunction', 'AsyncGeneratorFunction'),
  isBigInt64Array: (value) => tagOf(value) === 'BigInt64Array',
  isBigUint64Array: (value) => tagOf(value) === 'BigUint64Array',
  isBigIntObject: classIs('BigInt'),
  isBooleanObject: classIs('Boolean'),
  isBoxedPrimitive: classIs('BigInt', 'Boolean', 'Number', 'String', 'Symbol'),
  isCryptoKey: (value) => typeof CryptoKey === 'function' && value instanceof CryptoKey,
  isDataView: classIs('DataView'),
  isDate: classIs('Date'),
  isExternal: () => false,
  isFloat32Array: (value) => tagOf(value) === 'Float32Array',
  isFloat64Array: (value) => tagOf(value) === 'Float64Array',
  isGeneratorFunction: functionKind('GeneratorFunction', 'AsyncGeneratorFunction'),
  isGeneratorObject: classIs('Generator', 'AsyncGenerator'),
  isInt8Array: (value) => tagOf(value) === 'Int8Array',
  isInt16Array: (value) => tagOf(value) === 'Int16Array',
  isInt32Array: (value) => tagOf(value) === 'Int32Array',
  isKeyObject: () => false,
  isMap: classIs('Map'),
  isMapIterator: classIs('Map Iterator'),
  isModuleNamespaceObject: classIs('Module'),
  isNativeError: classIs('Error'),
  isNumberObject: classIs('Number'),
  isPromise: classIs('Promise'),
  isProxy: native.isProxy,
  isRegExp: classIs('RegExp'),
  isSet: classIs('Set'),
  isSetIterator: classIs('Set Iterator'),
  isSharedArrayBuffer: classIs('SharedArrayBuffer'),
  isStringObject: classIs('String'),
  isSymbolObject: classIs('Symbol'),
  isTypedArray: (value) => tagOf(value) !== undefined,
  isUint8Array: (value) => tagOf(value) === 'Uint8Array',
  isUint8ClampedArray: (value) => tagOf(value) === 'Uint8ClampedArray',
  isUint16Array: (value) => tagOf(value) === 'Uint16Array',
  isUint32Array: (value) => tagOf(value) === 'Uint32Array',
  isWeakMap: classIs('WeakMap'),
  isWeakSet: classIs('WeakSet'),
};

export const isArray = Array.isArray;
export const isRegExp = types.isRegExp;
export const isDate = types.isDate;
export const isError = types.isNativeError;
export const isObject = (value) => value !== null && typeof value === 'object';
export const isString = (value) => typeof value === 'string';
export const isNumber = (value) => typeof value === 'number';
export const isFunction = (value) => typeof value === 'function';
export const isUndefined = (value) => value === undefined;
export const isNull = (value) => value === null;
export const isNullOrUndefined = (value) => value == null;
export const isBoolean = (value) => typeof value === 'boolean';
export const isSymbol = (value) => typeof value === 'symbol';
export const isPrimitive = (value) => value === null || (typeof value !== 'object' && typeof value !== 'function');
export const TextEncoder = globalThis.TextEncoder;
export const TextDecoder = globalThis.TextDecoder;

export const parseEnv = (content) => {
  checkText('content', content);
  return parseVariables(content);
};

// Parses command-line arguments: `--name value`, `--name=value`, `-n value`, `--flag`.
const unexpectedWord = (word) =>
  codedError(TypeError, 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL', `Unexpected argument '${word}'. This command does not take positional arguments`);
const checkArguments = (args, options) => {
  if (!Array.isArray(args)) throw invalidType('args', 'an instance of Array', args);
  for (const [name, { type, short, default: standard, multiple }] of Object.entries(options)) {
    if (type !== 'string' && type !== 'boolean') throw invalidType(`options.${name}.type`, "('string|boolean')", type);
    if (short !== undefined) {
      if (typeof short !== 'string') throw invalidType(`options.${name}.short`, 'string', short);
      if (short.length !== 1) throw invalidValue(`options.${name}.short`, short, 'must be a single character');
    }
    if (standard === undefined) continue;
    if (multiple && !Array.isArray(standard)) throw invalidType(`options.${name}.default`, 'an instance of Array', standard);
    if (!multiple && typeof standard !== type) throw invalidType(`options.${name}.default`, type, standard);
  }
};
export const parseArgs = (config = {}) => {
  const { options = {}, args = host.args(), strict = true, allowPositionals = !strict } = config;
  checkArguments(args, options);
  const values = Object.create(null);
  const positionals = [];
  const tokens = [];
  const words = [...args];
  const store = (name, value) => {
    if (Object.hasOwn(options, name) && options[name].multiple) (values[name] ??= []).push(value);
    else values[name] = value;
  };
  const byShort = (letter) => Object.keys(options).find((name) => options[name].short === letter);
  // Letters that are given together form one word.
  let index = -1;
  let isApart = true;
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (isApart) index++;
    isApart = true;
    if (word === '--') {
      tokens.push({ kind: 'option-terminator', index });
      words.slice(i + 1).forEach((value, at) => tokens.push({ kind: 'positional', index: index + 1 + at, value }));
      if (strict && !allowPositionals && i + 1 < words.length) throw unexpectedWord(words[i + 1]);
      positionals.push(...words.slice(i + 1));
      break;
    }
    const long = /^--([^=]+)(?:=(.*))?$/s.exec(word);
    const short = long === null ? /^-([^-])(.*)$/s.exec(word) : null;
    if (long === null && short === null) {
      if (strict && !allowPositionals) throw unexpectedWord(word);
      positionals.push(word);
      tokens.push({ kind: 'positional', index, value: word });
      continue;
    }
    let name = long === null ? byShort(short[1]) ?? short[1] : long[1];
    let given = long === null ? undefined : long[2];
    const negated = long !== null && config.allowNegative && name.startsWith('no-') && Object.hasOwn(options, name.slice(3));
    if (negated) name = name.slice(3);
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (strict && option === undefined) {
      const unknown = long === null ? word.slice(0, 2) : `--${name}`;
      const advice = `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${unknown}"`;
      throw codedError(TypeError, 'ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${unknown}'${allowPositionals ? advice : ''}`);
    }
    if (option?.type !== 'string') {
      const rawName = short === null ? word.replace(/=.*/s, '') : `-${short[1]}`;
      tokens.push({ kind: 'option', name, rawName, index, value: given, inlineValue: given === undefined ? undefined : true });
      if (short !== null && short[2] !== '') {
        words.splice(i + 1, 0, `-${short[2]}`);
        isApart = false;
      }
      if (strict && given !== undefined) {
        throw codedError(TypeError, 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${option.short ? `-${option.short}, ` : ''}--${name}' does not take an argument`);
      }
      store(name, given ?? !negated);
      continue;
    }
    if (short !== null && short[2] !== '') given = short[2];
    const token = { kind: 'option', name, rawName: short === null ? `--${name}` : `-${short[1]}`, index, value: given, inlineValue: given !== undefined };
    if (given === undefined) {
      given = words[++i];
      if (strict && given?.length > 1 && given.startsWith('-')) {
        const example = short === null ? `'--${name}=-XYZ'` : `'--${name}=-XYZ' or '${token.rawName}-XYZ'`;
        const advice = `Did you forget to specify the option argument for '${token.rawName}'?\nTo specify an option argument starting with a dash use ${example}.`;
        throw codedError(TypeError, 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${token.rawName}' argument is ambiguous.\n${advice}`);
      }
      token.value = given;
      if (given === undefined) token.inlineValue = undefined;
      index++;
    }
    tokens.push(token);
    if (given === undefined && !strict) given = true;
    if (given === undefined) {
      throw codedError(TypeError, 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${option.short ? `-${option.short}, ` : ''}--${name} <value>' argument missing`);
    }
    store(name, given);
  }
  for (const [name, option] of Object.entries(options)) if (!(name in values) && option.default !== undefined) values[name] = option.default;
  return config.tokens ? { values, positionals, tokens } : { values, positionals };
};

export const isDeepStrictEqual = (a, b) => deepEqual(a, b);
let deepEqual = () => false;
export const setDeepEqual = (compare) => (deepEqual = compare);

export default {
  inspect,
  format,
  formatWithOptions,
  promisify,
  callbackify,
  inherits,
  deprecate,
  debuglog,
  debug,
  stripVTControlCharacters,
  toUSVString,
  styleText,
  aborted,
  getSystemErrorName,
  getSystemErrorMap,
  _extend,
  parseEnv,
  isBuffer,
  types,
  isArray,
  isRegExp,
  isDate,
  isError,
  isObject,
  isString,
  isNumber,
  isFunction,
  isUndefined,
  isNull,
  isNullOrUndefined,
  isBoolean,
  isSymbol,
  isPrimitive,
  TextEncoder,
  TextDecoder,
  parseArgs,
  isDeepStrictEqual,
  MIMEType,
  MIMEParams,
  // A controller and a signal cannot leave this thread, so that each can be "transferred".
  transferableAbortController: () => new AbortController(),
  transferableAbortSignal: (signal) => signal,
};
