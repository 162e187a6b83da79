// `vm`: scripts in contexts of their own. A context has its own builtins and its own global object, which finds the
// properties of the sandbox; what a script declares is moved to the sandbox when it has run.
import { codedError, invalidType, outOfRange } from './util.js';

const { native } = host;
const { ownKeys, getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Globals of the engine's contexts that are not part of the language.
const FOREIGN = ['DOMException', 'atob', 'btoa', 'performance', 'queueMicrotask', 'navigator', 'gc', 'InternalError', 'Iterator'];
// Methods that depend on the host or on `Intl`, which is the same in all contexts.
const SHARED = {
  Array: ['toLocaleString'],
  BigInt: ['toLocaleString'],
  Date: ['toLocaleDateString', 'toLocaleString', 'toLocaleTimeString', 'toString', 'toTimeString'],
  Error: ['stack'],
  Number: ['toLocaleString'],
  String: ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase'],
};
const copyProperty = (from, to, name) => {
  const property = getOwnPropertyDescriptor(from, name);
  if (property !== undefined) defineProperty(to, name, property);
};
const { console: mainConsole, Intl, Math: mainMath, Error: MainError, WeakRef: MainWeakRef } = globalThis;
const mainPrototypes = Object.fromEntries(Object.keys(SHARED).map((name) => [name, globalThis[name].prototype]));

// Gives a new context what all contexts share. As in Node, its console writes nowhere.
const furnish = (global) => {
  for (const name of FOREIGN) deleteProperty(global, name);
  for (const [name, methods] of Object.entries(SHARED)) {
    for (const method of methods) copyProperty(mainPrototypes[name], global[name].prototype, method);
  }
  copyProperty(mainMath, global.Math, 'random');
  copyProperty(mainMath, global.Math, 'hypot');
  copyProperty(MainError, global.Error, 'captureStackTrace');
  const silent = Object.fromEntries(Object.keys(mainConsole).map((name) => [name, () => {}]));
  for (const [name, value] of [['Intl', Intl], ['WeakRef', MainWeakRef], ['console', silent]]) {
    defineProperty(global, name, { value, writable: true, enumerable: false, configurable: true });
  }
};

// Contexts by their sandboxes.
const contexts = new WeakMap();
class Context {
  #sandbox;
  #global;
  #evaluate;
  #SyntaxError;
  // What the global object had at first.
  #first = new Map();
  // Names that scripts have declared with `var` and `function`, which are properties of the sandbox now.
  #variables = new Set();
  constructor(sandbox) {
    const lookUp = (name) => (name in sandbox ? [() => sandbox[name], (value) => (sandbox[name] = value)] : undefined);
    const [global, scope, evaluate] = native.makeContext(lookUp);
    furnish(global);
    Object.setPrototypeOf(global, scope);
    for (const name of ownKeys(global)) this.#first.set(name, getOwnPropertyDescriptor(global, name).value);
    [this.#sandbox, this.#global, this.#evaluate] = [sandbox, global, evaluate];
    this.#SyntaxError = this.#first.get('SyntaxError');
  }
  // Properties of the sandbox hide builtins.
  #uncover() {
    for (const name of ownKeys(this.#sandbox)) deleteProperty(this.#global, name);
  }
  #moveDeclared() {
    for (const name of ownKeys(this.#global)) {
      const property = getOwnPropertyDescriptor(this.#global, name);
      if (!property.configurable || (this.#first.has(name) && Object.is(property.value, this.#first.get(name)))) continue;
      if (deleteProperty(this.#global, name)) defineProperty(this.#sandbox, name, property);
    }
  }
  // As in Node, a name of a variable cannot be that of a lexical declaration later.
  #declare(text) {
    const [variables, lexical] = native.declaredNames(text);
    const taken = lexical.find((name) => this.#variables.has(name));
    if (taken !== undefined) throw new this.#SyntaxError(`Identifier '${taken}' has already been declared`);
    for (const name of variables) this.#variables.add(name);
  }
  run(text, file, line, timeout) {
    this.#declare(text);
    this.#uncover();
    try {
      return this.#evaluate(text, file, line, timeout);
    } finally {
      this.#moveDeclared();
    }
  }
}

export const isContext = (object) => {
  if (!isObject(object)) throw invalidType('object', 'object', object);
  return contexts.has(object);
};
export const createContext = (sandbox = {}) => {
  const own = sandbox === constants.DONT_CONTEXTIFY ? {} : sandbox;
  if (!isContext(own)) contexts.set(own, new Context(own));
  return own;
};
const contextOf = (sandbox) => {
  if (!isContext(sandbox)) throw invalidType('contextifiedObject', 'an vm.Context', sandbox);
  return contexts.get(sandbox);
};

const optionsOf = (options) => {
  const given = typeof options === 'string' ? { filename: options } : (options ?? {});
  if (typeof given !== 'object') throw invalidType('options', 'object', given);
  const { filename = 'evalmachine.<anonymous>', lineOffset = 0 } = given;
  if (typeof filename !== 'string') throw invalidType('options.filename', 'string', filename);
  if (typeof lineOffset !== 'number') throw invalidType('options.lineOffset', 'number', lineOffset);
  return { file: filename, line: lineOffset + 1 };
};
const timeoutOf = (options) => {
  const timeout = typeof options === 'object' ? options?.timeout : undefined;
  if (timeout === undefined) return 0;
  if (typeof timeout !== 'number') throw invalidType('options.timeout', 'number', timeout);
  if (!Number.isInteger(timeout)) throw outOfRange('options.timeout', 'an integer', timeout);
  if (timeout < 1 || timeout > 2 ** 32 - 1) throw outOfRange('options.timeout', '>= 1 && <= 4294967295', timeout);
  return timeout;
};
// Runs a script, and throws Node's error if its time is over.
const withTimeout = (timeout, run) => {
  try {
    return run();
  } catch (error) {
    if (timeout > 0 && native.hasTimedOut()) {
      throw codedError(Error, 'ERR_SCRIPT_EXECUTION_TIMEOUT', `Script execution timed out after ${timeout}ms`);
    }
    throw error;
  }
};

export class Script {
  #text;
  #place;
  constructor(code, options) {
    this.#text = `${code}`;
    this.#place = optionsOf(options);
    native.checkScript(this.#text, this.#place.file, this.#place.line);
    this.sourceMapURL = undefined;
  }
  runInThisContext(options) {
    const timeout = timeoutOf(options);
    const { file, line } = this.#place;
    return withTimeout(timeout, () => native.evaluateScript(this.#text, file, line, timeout));
  }
  runInContext(sandbox, options) {
    const context = contextOf(sandbox);
    const timeout = timeoutOf(options);
    const { file, line } = this.#place;
    return withTimeout(timeout, () => context.run(this.#text, file, line, timeout));
  }
  runInNewContext(sandbox, options) {
    return this.runInContext(createContext(sandbox), options);
  }
}

export const createScript = (code, options) => new Script(code, options);
export const runInThisContext = (code, options) => new Script(code, options).runInThisContext(options);
export const runInContext = (code, sandbox, options) => {
  contextOf(sandbox);
  return new Script(code, options).runInContext(sandbox, options);
};
export const runInNewContext = (code, sandbox, options) => {
  const given = typeof options === 'string' ? { filename: options } : options;
  return new Script(code, given).runInContext(createContext(sandbox), given);
};
export const compileFunction = (code, parameters = [], options = {}) => {
  if (typeof code !== 'string') throw invalidType('code', 'string', code);
  if (!Array.isArray(parameters)) throw invalidType('params', 'an instance of Array', parameters);
  parameters.forEach((name, at) => {
    if (typeof name !== 'string') throw invalidType(`params[${at}]`, 'string', name);
  });
  if (options.contextExtensions?.length > 0) throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'vm.compileFunction has no contextExtensions here: pass the values as parameters');
  const { file, line } = optionsOf({ filename: '', ...options });
  const text = `(function (${parameters.join(',')}) {${code}\n})`;
  if (options.parsingContext === undefined) return native.evaluateScript(text, file, line, 0);
  return contextOf(options.parsingContext).run(text, file, line, 0);
};
export const measureMemory = () => Promise.reject(codedError(Error, 'ERR_CONTEXT_NOT_INITIALIZED', 'vm.measureMemory is not here: use process.memoryUsage()'));
export const constants = Object.freeze({
  __proto__: null,
  USE_MAIN_CONTEXT_DEFAULT_LOADER: Symbol('vm_dynamic_import_main_context_default'),
  DONT_CONTEXTIFY: Symbol('vm_context_no_contextify'),
});

export default {
  Script,
  createContext,
  createScript,
  runInContext,
  runInNewContext,
  runInThisContext,
  isContext,
  compileFunction,
  measureMemory,
  constants,
};
