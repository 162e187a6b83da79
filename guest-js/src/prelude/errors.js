// Classes of errors from the host, the form of stack traces, and the description of uncaught errors.

// Origin of each error that the prelude made: `{kind, hint, method}`. A script can change the properties of an error
// (`error.kind`), but not this.
const origins = new WeakMap();

// Accessor for the raw stack of QuickJS, before a header is added.
const stackProperty = getOwnPropertyDescriptor(Error.prototype, 'stack');
const rawStackOf = uncurry(stackProperty.get);
const captureRaw = uncurry(Error.captureStackTrace);

// Removes the frames that do not belong to the script: those of the prelude, and of native functions that it called.
const cleanStack = (raw) => {
  if (typeof raw !== 'string') return '';
  const lines = split(raw, '\n');
  const frames = [];
  for (let i = 0; i < lines.length; i++) {
    const frame = trim(lines[i]);
    if (!startsWith(frame, 'at ')) continue;
    if (includes(frame, '(tollhouse:')) {
      while (frames.length > 0 && endsWith(frames[frames.length - 1], '(native)')) frames.length--;
      continue;
    }
    // The main script is an anonymous async function, and an input of an interactive session is global code.
    const name = startsWith(frame, 'at <anonymous> (') ? 16 : startsWith(frame, 'at <eval> (') ? 11 : 0;
    const nameless = name > 0 && endsWith(frame, ')') && !endsWith(frame, '(native)');
    push(frames, nameless ? 'at ' + substring(frame, name, frame.length - 1) : frame);
  }
  return join(frames, '\n');
};

// Captures the stack of the script, as seen by the caller of `below`.
const captureStack = (below) => {
  const holder = { __proto__: null, stack: '' };
  captureRaw(Error, holder, below);
  return holder.stack;
};

const readString = (object, name) => {
  try {
    const value = object[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
};

// Codes of Node's own errors, which are shown after the name.
const codes = new WeakMap();
const toStringWithCode = {
  toString() {
    return this.name + ' [' + weakGet(codes, this) + ']: ' + this.message;
  },
}.toString;
// Codes of errors from the native part of Node, which do not show them in the first line.
const nativeCode =
  /^ERR_(INVALID_URL|ENCODING_INVALID_ENCODED_DATA|OSSL_.*|CRYPTO_(?!HASH_FINALIZED|SCRYPT_INVALID_PARAMETER).*)$/;
// Gives an error a code, as Node's own errors have it.
const nodeError = (error, code) => {
  error.code = code;
  if (!startsWith(code, 'ERR_') || regExpTest(nativeCode, code)) return error;
  weakSet(codes, error, code);
  define(error, 'toString', toStringWithCode);
  return error;
};

// Returns `Name: message`, the first line of a stack.
const headerOf = (error) => {
  const code = weakGet(codes, error);
  const name = (readString(error, 'name') ?? 'Error') + (code === undefined ? '' : ' [' + code + ']');
  const message = readString(error, 'message') ?? '';
  return message === '' ? name : name === '' ? message : name + ': ' + message;
};

const indentFrames = (frames) => (frames === '' ? '' : '\n    ' + join(split(frames, '\n'), '\n    '));

// Frame of a stack for `Error.prepareStackTrace`, parsed from its line. It gives a script no access to functions and
// values of others.
const frameParts = /^at (?:(.+) \()?(.*?)(?::(\d+):(\d+))?\)?$/;
class CallSite {
  #frame;
  #name;
  #file;
  #line;
  #column;
  constructor(frame) {
    const parts = regExpExec(frameParts, frame);
    const file = parts[2];
    this.#frame = frame;
    this.#name = parts[1] ?? null;
    this.#file = file === 'native' ? undefined : file === scriptName ? mainPath() : file;
    this.#line = parts[3] === undefined ? null : Number(parts[3]);
    this.#column = parts[4] === undefined ? null : Number(parts[4]);
  }
  getThis() {}
  getTypeName() {
    return null;
  }
  getFunction() {}
  getFunctionName() {
    return this.#name;
  }
  getMethodName() {
    return null;
  }
  getFileName() {
    return this.#file;
  }
  getScriptNameOrSourceURL() {
    return this.#file;
  }
  getLineNumber() {
    return this.#line;
  }
  getColumnNumber() {
    return this.#column;
  }
  getEvalOrigin() {}
  getPromiseIndex() {
    return null;
  }
  isToplevel() {
    return this.#name === null;
  }
  isEval() {
    return false;
  }
  isNative() {
    return this.#file === undefined;
  }
  isConstructor() {
    return false;
  }
  isAsync() {
    return false;
  }
  isPromiseAll() {
    return false;
  }
  toString() {
    return substring(this.#frame, 3);
  }
}

// Returns the stack of an error: the result of the script's `Error.prepareStackTrace`, or else the header and the
// frames. As in V8, the function is called when the stack is first read.
let preparing = false;
const stackOf = (error, frames, header) => {
  const prepare = getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value;
  if (typeof prepare !== 'function' || preparing) return header(error) + indentFrames(frames);
  preparing = true;
  try {
    const sites = frames === '' ? [] : mapList(split(frames, '\n'), (frame) => new CallSite(frame));
    const stack = apply(prepare, Error, [error, sites]);
    define(error, 'stack', stack);
    return stack;
  } finally {
    preparing = false;
  }
};

// Stacks that were read. As in V8, their first line does not follow later changes of the name and the message.
const shownStacks = new WeakMap();

// As in Node, a stack begins with the name and the message of the error, and has only the frames of the script.
defineGetter(
  Error.prototype,
  'stack',
  {
    get() {
      if (!isObject(this)) return undefined;
      const known = weakGet(shownStacks, this);
      if (known !== undefined) return known;
      const raw = rawStackOf(this);
      if (typeof raw !== 'string' || (native.className(this) !== 'Error' && native.className(this) !== 'DOMException')) return raw;
      const text = stackOf(this, cleanStack(raw), headerOf);
      weakSet(shownStacks, this, text);
      return text;
    },
  }.get,
  {
    // As in Node, a script may set any value.
    set(value) {
      if (isObject(this)) define(this, 'stack', value);
    },
  }.set,
);

// The stack of a `DOMException` begins with its name and message, too.
const DOMException = new Proxy(EngineDOMException, {
  __proto__: null,
  construct(target, values, made) {
    const given = values[1];
    const options = isObject(given) ? given : undefined;
    const error = construct(target, options === undefined ? values : [values[0], options.name ?? 'Error'], made);
    if (options !== undefined && 'cause' in options) define(error, 'cause', options.cause);
    define(error, 'stack', headerOf(error) + indentFrames(cleanStack(error.stack)));
    return error;
  },
});
define(EngineDOMException.prototype, 'constructor', DOMException);
defineGlobal('DOMException', DOMException);

define(
  Error,
  'captureStackTrace',
  {
    captureStackTrace(target, below) {
      captureRaw(Error, target, below);
      const frames = cleanStack(target.stack);
      // The first line is made when it is first read, because a class may set the name of its errors after capturing
      // the stack.
      let text;
      defineProperty(target, 'stack', {
        __proto__: null,
        // From then on the stack is a plain property, unless the target was frozen.
        get: () => {
          text ??= stackOf(target, frames, headerOf);
          const descriptor = getOwnPropertyDescriptor(target, 'stack');
          if (descriptor !== undefined && descriptor.configurable) define(target, 'stack', text);
          return text;
        },
        set: (value) => define(target, 'stack', value),
        enumerable: false,
        configurable: true,
      });
    },
  }.captureStackTrace,
);

// The engine's own hook would see functions of the prelude. A plain property takes its place, which `stackOf` reads.
define(Error, 'prepareStackTrace', undefined);

// Returns the frames of an error, without its header. A script may have set the stack to any value.
const framesOf = (error) => {
  if (hasOwn(error, 'stack')) {
    const own = readString(error, 'stack');
    const from = own === undefined ? -1 : indexOf(own, '\n    at ');
    return from < 0 ? '' : cleanStack(substring(own, from));
  }
  return cleanStack(rawStackOf(error));
};

const defineClass = (name, Base) => {
  const Class = { [name]: class extends Base {} }[name];
  define(Class.prototype, 'name', name);
  return Class;
};

const ToolError = defineClass('ToolError', Error);
const ArgumentError = defineClass('ArgumentError', TypeError);
const CapabilityError = defineClass('CapabilityError', Error);
const ApprovalError = defineClass('ApprovalError', Error);
const LimitError = defineClass('LimitError', Error);
const CancelledError = defineClass('CancelledError', Error);
const PolicyError = defineClass('PolicyError', Error);
const HostError = defineClass('HostError', Error);

const classOfKind = {
  __proto__: null,
  tool: ToolError,
  argument: ArgumentError,
  capability: CapabilityError,
  approval: ApprovalError,
  limit: LimitError,
  cancelled: CancelledError,
  policy: PolicyError,
  host: HostError,
};

for (const name in classOfKind) defineGlobal(classOfKind[name].prototype.name, classOfKind[name]);

// Marks an error with a kind and a hint, both for the script and for the host.
const mark = (error, kind, hint, extra) => {
  defineShown(error, 'kind', kind);
  if (hint != null) defineShown(error, 'hint', hint);
  weakSet(origins, error, { __proto__: null, kind, hint, ...extra });
  return error;
};

// Sets the cause of an error, whose hint becomes that of the cause.
const causedBy = (error, cause) => {
  define(error, 'cause', cause);
  weakSet(origins, error, { __proto__: null, ...weakGet(origins, cause), kind: 'exception' });
  return error;
};

// Returns the error of a failed operation, with the stack of the place where the script began it.
const failureError = (record, stack, method) => {
  const Class = classOfKind[record.kind] ?? Error;
  const error = new Class(record.message);
  if (record.name !== '' && record.name !== error.name) define(error, 'name', record.name);
  define(error, 'stack', headerOf(error) + indentFrames(cleanStack(stack)));
  if (method !== undefined) defineShown(error, 'method', method);
  if (record.payload !== undefined) defineShown(error, 'payload', record.payload);
  return mark(error, record.kind, record.hint, { payload: record.payload });
};

// Returns an error about the arguments of the function `below`, with the stack of its caller.
const usageError = (Class, message, below, kind, hint) => {
  const error = new Class(message);
  const stack = captureStack(below);
  define(error, 'stack', headerOf(error) + indentFrames(cleanStack(stack)));
  return kind === undefined ? error : mark(error, kind, hint);
};

// Replacements for names that exist in other environments, and not in this one.
const elsewhere = {
  __proto__: null,
  XMLHttpRequest: 'use `fetch`, which goes through the `http` tool',
  WebSocket: 'use `fetch`, which goes through the `http` tool',
  Deno: 'use the globals `fs`, `args`, `env` and `stdin`',
  Bun: 'use the globals `fs`, `args`, `env` and `stdin`',
  window: 'there is no browser here: use `globalThis`',
  document: 'there is no browser here',
  alert: 'there is no browser here: use `console.log`',
  localStorage: 'use files: `await fs.writeFile(path, text)` and `await fs.readFile(path)`',
  readFile: 'did you mean `fs.readFile`?',
  writeFile: 'did you mean `fs.writeFile`?',
  print: 'use `console.log`',
  WebAssembly: 'a script cannot run WebAssembly: use a program of the shell (`await shell(command)`)',
  WebSocket: 'a script has no sockets: use `fetch`',
  EventSource: 'a script has no sockets: use `fetch`',
  XMLHttpRequest: 'use `fetch`',
  localStorage: 'use files, or `state` in runs that keep it (`--keep-state`)',
  sessionStorage: 'use a variable',
  document: 'there is no page: build text, and print or return it',
  alert: 'use `console.log`',
  Deno: 'scripts are written as for Node: `fs`, `process`, `fetch`',
  Bun: 'scripts are written as for Node: `fs`, `process`, `fetch`',
  Temporal: 'use `Date` and `Intl.DateTimeFormat`',
  URLPattern: 'use `URL`, and a regular expression for its path',
};

// Returns a hint for a name that is not defined.
const hintForName = (name) => {
  if (name in elsewhere) return elsewhere[name];
  const known = native.aliases();
  const globals = ownKeys(globalThis);
  for (let i = 0; i < globals.length; i++) if (typeof globals[i] === 'string') push(known, globals[i]);
  const near = native.nearest(name, known);
  if (near != null) return 'did you mean `' + near + '`?';
  return native.aliases().length === 0 ? undefined : '`listTools()` shows which tools are mounted';
};

const undefinedName = /^'?([\p{ID_Start}$_][\p{ID_Continue}$]*)'? is not defined$/u;

const hintFor = (error, message) => {
  if (error instanceof ReferenceError) {
    const match = regExpExec(undefinedName, message);
    if (match !== null) return hintForName(match[1]);
  }
  return undefined;
};

// Returns the name of an uncaught error. As in Node, that of its class takes the place of a base class's name: `DbError`,
// not `Error`.
const shownName = (error) => {
  const name = readString(error, 'name') ?? 'Error';
  const own = constructorName(error);
  return name !== '' && own !== null && includes(own, name) ? own : name;
};

// Describes an uncaught value for the host: `{kind, name, message, hint, stack, properties, payload}`.
const describe = (thrown) => {
  const isError = native.className(thrown) === 'Error' || native.className(thrown) === 'DOMException';
  if (!isError) {
    const isString = typeof thrown === 'string';
    return {
      __proto__: null,
      kind: 'exception',
      name: 'Error',
      message: isString ? thrown : 'the script threw ' + inspectSafely(thrown),
      hint: 'throw an `Error`: it carries where it was thrown',
    };
  }
  const origin = weakGet(origins, thrown);
  const message = readString(thrown, 'message') ?? '';
  const stack = framesOf(thrown);
  return {
    __proto__: null,
    kind: origin?.kind ?? 'exception',
    name: shownName(thrown),
    message,
    hint: origin?.hint ?? hintFor(thrown, message),
    stack: stack === '' ? undefined : stack,
    properties: shownProperties(thrown, origin),
    payload: origin?.payload,
  };
};

// Properties of errors from the host that have fields of their own in the description.
const saidApart = ['kind', 'hint', 'method', 'payload'];

// Returns the properties of an uncaught error, including its cause, as Node shows them after the stack; undefined if
// there are none. No code of the script runs.
const shownProperties = (error, origin) => {
  try {
    return propertiesBehind(error, origin === undefined ? [] : saidApart);
  } catch {
    // The properties are too deep or too many; the error itself matters more.
    return undefined;
  }
};
