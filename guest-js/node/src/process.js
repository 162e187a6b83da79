// `process`: describes this script in the form of Node.
import { absent } from './absent.js';
import EventEmitter, { marks } from './events.js';
import { Buffer } from './buffer.js';
import { SIGNALS } from './signals.js';
import { codedError, invalidType, invalidValue, outOfRange, isWhole, parseEnv, provide } from './util.js';

const { native } = host;

class Process extends EventEmitter {}
const process = new Process();
provide({ process });
Object.defineProperty(Process.prototype, 'constructor', { value: Process, enumerable: false });
Object.defineProperty(Process, 'name', { value: 'process' });

const hidden = (name, value) =>
  Object.defineProperty(process, name, { value, writable: true, enumerable: false, configurable: true });
for (const name of ['_events', '_eventsCount', '_maxListeners', ...marks]) hidden(name, process[name]);

Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true });

// Defines a property whose value is only known when the script runs.
const lazily = (name, make) => {
  let value;
  Object.defineProperty(process, name, {
    get: () => (value ??= make()),
    set: (given) => (value = given),
    enumerable: true,
    configurable: true,
  });
};

// As in Node.js: code that was given as text has no path, and standard input has `-` if arguments follow it.
const mainArguments = (given) => {
  const path = host.mainPath();
  if (path.endsWith('/[eval]')) return given;
  if (path.endsWith('/[stdin]')) return given.length === 0 ? [] : ['-', ...given];
  return [path, ...given];
};
lazily('argv', () => ['/usr/local/bin/node', ...mainArguments(host.args())]);
process.env = host.env;
process.title = 'node';
process.pid = 1;
process.ppid = 0;
process.platform = 'linux';
process.arch = 'wasm32';
process.version = 'v20.0.0';
process.versions = { node: '20.0.0', quickjs: 'ng' };
process.release = { name: 'node' };
process.execPath = '/usr/local/bin/node';
process.execArgv = [];
process.argv0 = 'node';
process.config = { target_defaults: {}, variables: {} };
process.features = {};
// Checks an exit code. The system keeps its last eight bits.
const checkExitCode = (code) => {
  const number = typeof code === 'string' && code !== '' ? Number(code) : code;
  if (code === undefined || code === null || isWhole(number)) return code;
  if (typeof number === 'number' && !Number.isNaN(number)) throw outOfRange('code', 'an integer', number);
  throw invalidType('code', 'number', code);
};
Object.defineProperty(process, 'exitCode', {
  get: () => host.exitCode(),
  set: (code) => host.setExitCode(checkExitCode(code)),
  enumerable: true,
  configurable: true,
});

// Signals whose default action is to do nothing.
const harmless = ['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH'];

process.cwd = () => host.cwd();
process.chdir = (path) => {
  if (typeof path !== 'string') throw invalidType('directory', 'string', path);
  host.chdir(path);
};
process.exit = (...codes) => {
  if (codes.length > 0) [process.exitCode] = codes;
  host.exit();
};
process.abort = () => host.exitBySignal(SIGNALS.indexOf('SIGABRT') + 1);
const noProcess = (code, number) => Object.assign(codedError(Error, code, `kill ${code}`), { errno: number, syscall: 'kill' });
// The only process is this script, and a signal without a listener ends it.
process.kill = (pid, signal = 'SIGTERM') => {
  // A text that contains a number is accepted.
  if (pid != (pid | 0)) throw invalidType('pid', 'number', pid);
  const name = isWhole(signal) ? SIGNALS[signal - 1] : String(signal || 'SIGTERM');
  if (!isWhole(signal) && !SIGNALS.includes(name)) throw codedError(TypeError, 'ERR_UNKNOWN_SIGNAL', `Unknown signal: ${signal}`);
  if ((pid | 0) !== process.pid) throw noProcess('ESRCH', -3);
  if (signal === 0) return true;
  if (name === undefined) throw noProcess('EINVAL', -22);
  const number = SIGNALS.indexOf(name) + 1;
  if (process.listenerCount(name) > 0 && name !== 'SIGKILL') setImmediate(() => process.emit(name, name, number));
  else if (!harmless.includes(name)) host.exitBySignal(number);
  return true;
};
process.nextTick = (callback, ...values) => {
  if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
  host.queueTick(callback, values);
};
process.uptime = () => (native.now() - host.scriptStart()) / 1000;
const nanos = () => BigInt(Math.round((native.now() - host.scriptStart()) * 1e6));
process.hrtime = (since) => {
  if (since !== undefined && !Array.isArray(since)) throw invalidType('time', 'an instance of Array', since);
  const now = nanos() - (since === undefined ? 0n : BigInt(since[0]) * 1000000000n + BigInt(since[1]));
  return [Number(now / 1000000000n), Number(now % 1000000000n)];
};
process.hrtime.bigint = nanos;
process.memoryUsage = () => {
  const used = native.memoryUsed();
  return { rss: used, heapTotal: used, heapUsed: used, external: 0, arrayBuffers: 0 };
};
process.memoryUsage.rss = { rss: () => native.memoryUsed() }.rss;
process.cpuUsage = (before) => {
  const used = { user: Math.round((native.now() - host.scriptStart()) * 1000), system: 0 };
  if (!before) return used;
  if (typeof before !== 'object') throw invalidType('prevValue', 'object', before);
  for (const part of ['user', 'system']) {
    if (typeof before[part] !== 'number') throw invalidType(`prevValue.${part}`, 'number', before[part]);
    if (!(before[part] >= 0 && before[part] <= Number.MAX_SAFE_INTEGER)) {
      throw codedError(RangeError, 'ERR_INVALID_ARG_VALUE', `The property 'prevValue.${part}' is invalid. Received ${before[part]}`);
    }
  }
  return { user: used.user - before.user, system: used.system - before.system };
};
process.resourceUsage = () => ({ maxRSS: Math.round(native.memoryUsed() / 1024) });
process.umask = (mask) => {
  if (typeof mask === 'string' && !/^[0-7]+$/.test(mask)) throw invalidValue('mask', mask, 'must be a 32-bit unsigned integer or an octal string');
  if (mask !== undefined && typeof mask !== 'string') {
    if (typeof mask !== 'number') throw invalidType('mask', 'number', mask);
    if (!isWhole(mask)) throw outOfRange('mask', 'an integer', mask);
    if (mask < 0 || mask >= 2 ** 32) throw outOfRange('mask', '>= 0 && <= 4294967295', mask);
  }
  const before = host.fileMask();
  if (mask !== undefined) host.setFileMask((typeof mask === 'string' ? Number.parseInt(mask, 8) : mask) & 0o777);
  return before;
};
process.getuid = process.geteuid = process.getgid = process.getegid = () => 1000;
process.getgroups = () => [1000];
for (const name of ['setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups']) {
  process[name] = () => {
    throw Object.assign(codedError(Error, 'EPERM', `EPERM: operation not permitted, ${name}`), { syscall: name });
  };
}
process.emitWarning = (warning, type, code) => {
  const options = type !== null && typeof type === 'object' ? type : { type, code };
  let told = warning;
  if (typeof warning === 'string') {
    told = new Error(warning);
    Object.defineProperty(told, 'name', { value: String(options.type ?? 'Warning'), writable: true, enumerable: false, configurable: true });
    if (options.code !== undefined) told.code = options.code;
    if (options.detail !== undefined) told.detail = options.detail;
  } else if (!(warning instanceof Error)) {
    throw invalidType('warning', 'string or an instance of Error', warning);
  }
  process.nextTick(() => {
    const kind = told.code === undefined ? '' : `[${told.code}] `;
    native.stderr(`(node:1) ${kind}${told.name}: ${told.message}\n${told.detail === undefined ? '' : `${told.detail}\n`}`);
    process.emit('warning', told);
  });
};
process.loadEnvFile = (path = '.env') => {
  const text = Buffer.from(host.fs.readBytes(path).buffer).toString();
  for (const [name, value] of Object.entries(parseEnv(text))) if (!Object.hasOwn(process.env, name)) process.env[name] = value;
};
// There is nothing beside the script that could use a source map, or write a report.
process.sourceMapsEnabled = false;
process.setSourceMapsEnabled = (isEnabled) => {
  if (typeof isEnabled !== 'boolean') throw invalidType('val', 'boolean', isEnabled);
  if (isEnabled) throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'source maps are not applied here: stacks name the lines of the source already');
};
process.availableMemory = () => Math.max(native.memoryLimit() - native.memoryUsed(), 0);
let captureUncaught = null;
process.setUncaughtExceptionCaptureCallback = (callback) => {
  if (callback === null) {
    if (captureUncaught !== null) process.removeListener('uncaughtException', captureUncaught);
  } else {
    if (typeof callback !== 'function') throw invalidType('fn', 'function or null', callback);
    if (captureUncaught !== null) throw codedError(Error, 'ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET', '`process.setupUncaughtExceptionCapture()` was called while a capture callback was already active');
    process.prependListener('uncaughtException', callback);
  }
  captureUncaught = callback;
};
process.hasUncaughtExceptionCaptureCallback = () => captureUncaught !== null;
process.allowedNodeEnvironmentFlags = new Set();
process.getActiveResourcesInfo = () => [];
process.constrainedMemory = () => native.memoryLimit();
process.domain = null;
process.debugPort = 9229;
process.openStdin = () => process.stdin.resume();
process.dlopen = absent('process', 'dlopen', 'a script cannot load native code. Use a module of JavaScript, or a program of the shell');
process.binding = () => {
  throw new Error('there are no bindings here');
};
host.connectEvents({
  // Without a listener no code of the script runs, whatever it has done to the prototypes.
  emit: (name, first, second) => process.listenerCount(name) > 0 && process.emit(name, first, second),
  count: (name) => process.listenerCount(name),
  warn: (message, name) => process.emitWarning(message, name),
});

// Creates the standard streams once the stream classes exist.
export const addStreams = ({ Readable, Writable }) => {
  const output = (fd, write, toStderr) => {
    const stream = new Writable({
      decodeStrings: false,
      emitClose: false,
      write(chunk, encoding, callback) {
        callback();
      },
    });
    const send = stream.end;
    // Writes reach the output at once, and in order with those of `console`.
    stream.write = {
      write(chunk, encoding, callback) {
        if (typeof chunk === 'string') {
          if (typeof encoding === 'string' && !/^utf-?8$/i.test(encoding)) native.outputBytes(new Uint8Array(Buffer.from(chunk, encoding)), toStderr);
          else write(chunk);
        } else if (ArrayBuffer.isView(chunk)) {
          native.outputBytes(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength), toStderr);
        } else if (chunk === null) {
          throw codedError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
        } else {
          throw invalidType('chunk', 'string or an instance of Buffer, TypedArray, or DataView', chunk);
        }
        const done = typeof encoding === 'function' ? encoding : callback;
        if (typeof done === 'function') process.nextTick(() => done());
        return true;
      },
    }.write;
    // A script may replace `write`; the replacement also gets the output of `console`.
    const own = stream.write;
    let current = own;
    Object.defineProperty(stream, 'write', {
      get: () => current,
      set(given) {
        current = given;
        host.redirectConsole(toStderr, given === own ? undefined : (text) => void stream.write(text));
      },
      enumerable: true,
      configurable: true,
    });
    stream.end = function (chunk, encoding, callback) {
      if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') stream.write(chunk, encoding);
      return send.call(this, typeof chunk === 'function' ? chunk : typeof encoding === 'function' ? encoding : callback);
    };
    // As in Node, the standard outputs stay open, whatever ends them.
    stream._destroy = function (error, callback) {
      callback(error);
      // After the stream has noted that it is closed.
      process.nextTick(() => {
        this._undestroy();
        this.emit('close');
      });
    };
    return Object.assign(stream, { fd, getColorDepth: () => 1, hasColors: () => false, _type: 'pipe' });
  };
  lazily('stdout', () => output(1, native.stdout, false));
  lazily('stderr', () => output(2, native.stderr, true));
  lazily('stdin', () => {
    const stream = new Readable({
      read() {
        host.readStdin().then(
          (bytes) => this.push(bytes.length === 0 ? null : Buffer.from(bytes)),
          (error) => this.destroy(error),
        );
      },
    });
    return Object.assign(stream, { fd: 0, setRawMode: () => stream });
  });
};

export default process;
export const nextTick = process.nextTick;
export const env = process.env;
