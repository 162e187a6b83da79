// Commands as `child_process` runs them, waited for or not: their text in bash, and what is said of one that is not there.
import { quote } from './shell.js';
import path from './path.js';
import process from './process.js';
import { SIGNALS } from './signals.js';
import { codedError, invalidType, invalidValue, outOfRange, isWhole } from './util.js';

// Node's: what is kept of one stream.
export const MAX_BUFFER = 1024 * 1024;

// bash's status of a command that is not there. A command may end so too: whether it is there is asked for then.
export const MISSING = 127;

// The shell has `node` as a command without a file: `process.execPath` leads to it, too.
const NODE = `${process.execPath}() { node "$@"; }; `;

const nameOf = (file) => (file === process.execPath ? 'node' : file);

// A command that ends well if this one is there.
export const asks = (file) => `command -v -- ${quote(nameOf(file))}`;

export const commandLine = (file, args, options) => {
  const name = nameOf(file);
  if (options.shell) return `${NODE}${[name, ...args].join(' ')}`;
  return `${asks(file)} >/dev/null 2>&1 || exit ${MISSING}; ${[name, ...args].map(quote).join(' ')}`;
};

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

const checkZeros = (value, name) => {
  if (typeof value === 'string' && value.includes('\0')) throw invalidValue(name, value, 'must be a string without null bytes');
};

export const checkText = (value, name) => {
  if (typeof value !== 'string') throw invalidType(name, 'string', value);
  checkZeros(value, name);
};

export const toSignal = (given) => {
  if (given === undefined || given === null) return 'SIGTERM';
  if (typeof given !== 'string' && typeof given !== 'number') throw invalidType('options.killSignal', 'one of type string or number', given);
  const name = typeof given === 'number' ? SIGNALS[given - 1] : given.toUpperCase();
  if (!SIGNALS.includes(name)) throw codedError(TypeError, 'ERR_UNKNOWN_SIGNAL', `Unknown signal: ${given}`);
  return name;
};

// What Node checks of the options before anything runs.
const checkOptions = ({ cwd, shell, argv0, timeout, maxBuffer, killSignal }) => {
  if (cwd != null && typeof cwd !== 'string' && !(cwd instanceof URL) && !ArrayBuffer.isView(cwd)) {
    throw invalidType('options.cwd', 'string or an instance of Buffer or URL', cwd);
  }
  checkZeros(cwd, 'options.cwd');
  if (shell != null && typeof shell !== 'boolean' && typeof shell !== 'string') {
    throw invalidType('options.shell', 'one of type boolean or string', shell);
  }
  checkZeros(shell, 'options.shell');
  if (argv0 != null) checkText(argv0, 'options.argv0');
  if (timeout != null && !(isWhole(timeout) && timeout >= 0)) throw outOfRange('timeout', 'an unsigned integer', timeout);
  if (maxBuffer != null && !(typeof maxBuffer === 'number' && maxBuffer >= 0)) {
    throw outOfRange('options.maxBuffer', 'a positive number', maxBuffer);
  }
  toSignal(killSignal);
};

// Options that say as whom a command runs, and with what environment: what cannot be done is an error.
const checkIdentity = (file, { argv0, uid, gid, env }) => {
  for (const [name, value] of Object.entries(env ?? {})) {
    checkZeros(name, `options.env['${name}']`);
    checkZeros(value, `options.env['${name}']`);
  }
  if (typeof argv0 === 'string' && argv0 !== file) throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'the option `argv0` is not here: a command has its own name');
  if ((uid ?? process.getuid()) !== process.getuid() || (gid ?? process.getgid()) !== process.getgid()) {
    throw Object.assign(codedError(Error, 'EPERM', `spawn ${file} EPERM`), { errno: -1, syscall: `spawn ${file}` });
  }
};

// What the functions take that run a file, as one: the file, its arguments and options that are checked.
export const normalize = (file, given, options) => {
  checkText(file, 'file');
  if (file.length === 0) throw invalidValue('file', file, 'cannot be empty');
  let args = [];
  if (Array.isArray(given)) args = [...given];
  else if (given !== undefined && given !== null) {
    if (typeof given !== 'object') throw invalidType('args', 'object', given);
    options = given;
  }
  args.forEach((word, at) => checkZeros(word, `args[${at}]`));
  if (options === undefined) options = {};
  else if (!isObject(options)) throw invalidType('options', 'object', options);
  options = { __proto__: null, ...options };
  checkOptions(options);
  checkIdentity(file, options);
  const source = commandLine(file, args, options);
  if (!options.shell) return { file, args: args.map(String), source, options };
  const shell = typeof options.shell === 'string' ? options.shell : '/bin/sh';
  return { file: shell, args: ['-c', [file, ...args].join(' ')], source, options };
};

// Commands run in bash, whatever name it has; no other shell is there.
const isShell = (shell) => typeof shell !== 'string' || /(^|\/)(ba|da)?sh$/.test(shell);

// Why no command can start in a directory with these options; undefined if one can.
export const hindrance = (directory, { shell }) => {
  try {
    if (host.native.stat(directory, true).kind !== 'directory') return 'ENOTDIR';
  } catch (code) {
    if (typeof code === 'string') return code === 'ENOTDIR' ? code : 'ENOENT';
    throw code;
  }
  return isShell(shell) ? undefined : 'ENOENT';
};

// Why there is no command of this name: a file that may not be executed is none either.
export const whyAbsent = (file, directory) => {
  if (!file.includes('/')) return 'ENOENT';
  try {
    host.native.stat(path.resolve(directory, file), true);
    return 'EACCES';
  } catch (code) {
    if (typeof code === 'string') return 'ENOENT';
    throw code;
  }
};

// Processes have numbers, though nothing can be done with them.
let lastProcess = process.pid;
export const nextProcess = () => ++lastProcess;

const errnos = { ENOENT: -2, EBADF: -9, EACCES: -13, ENOTDIR: -20, ENOBUFS: -105, ETIMEDOUT: -110 };

// The error of a command that did not run, or not to its end, as the system call of this name failed.
export const systemFailure = (code, call, file, spawnargs) =>
  Object.assign(new Error(`${call} ${file} ${code}`), { errno: errnos[code], code, syscall: `${call} ${file}`, path: file, spawnargs });
