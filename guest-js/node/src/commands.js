// Common parts of synchronous and asynchronous commands of `child_process`: their text in bash, and errors about
// missing commands.
import { quote } from './shell.js';
import path from './path.js';
import process from './process.js';
import { SIGNALS } from './signals.js';
import { codedError, invalidType, invalidValue, outOfRange, isWhole } from './util.js';

// Default limit on the collected output of one stream, as in Node.
export const MAX_BUFFER = 1024 * 1024;

// Exit status of bash for a missing command. A command may end with it, too, so its existence is checked afterwards.
export const MISSING = 127;

// The shell has `node` as a built-in command without a file. This function makes `process.execPath` lead to it, too.
const NODE = `${process.execPath}() { node "$@"; }; `;

const nameOf = (file) => (file === process.execPath ? 'node' : file);

// Returns a command that succeeds if this one exists.
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

// Checks options as Node does before anything runs.
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

// Checks options for the identity and the environment of a command. Those that cannot be honoured are errors.
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

// Unifies the arguments of the functions that run a file: the file, its arguments, and checked options.
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

// Returns true if bash can stand in for a shell: it is the only one.
const isShell = (shell) => typeof shell !== 'string' || /(^|\/)(ba|da)?sh$/.test(shell);

// Returns the reason why no command can start in a directory with these options; undefined if one can.
export const hindrance = (directory, { shell }) => {
  try {
    if (host.native.stat(directory, true).kind !== 'directory') return 'ENOTDIR';
  } catch (code) {
    if (typeof code === 'string') return code === 'ENOTDIR' ? code : 'ENOENT';
    throw code;
  }
  return isShell(shell) ? undefined : 'ENOENT';
};

// Returns the reason why a command is missing. A file that is not executable counts as missing, too.
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

// Number of the last child. Children have process numbers, but nothing can be done with them.
let lastProcess = process.pid;
export const nextProcess = () => ++lastProcess;

const errnos = { ENOENT: -2, EBADF: -9, EACCES: -13, ENOTDIR: -20, ENOBUFS: -105, ETIMEDOUT: -110 };

// Returns the error of a command that could not be run to its end, in the form of a failed system call with this name.
export const systemFailure = (code, call, file, spawnargs) =>
  Object.assign(new Error(`${call} ${file} ${code}`), { errno: errnos[code], code, syscall: `${call} ${file}`, path: file, spawnargs });
