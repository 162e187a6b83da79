// Commands as `child_process` runs them, waited for or not: their text in bash, and what is said of one that is not there.
import { quote } from './shell.js';
import process from './process.js';
import util, { codedError, invalidValue } from './util.js';

// Node's: what is kept of one stream.
export const MAX_BUFFER = 1024 * 1024;

// bash's status of a command that is not there. A command may end so too: whether it is there is asked for then.
export const MISSING = 127;

const nameOf = (file) => (file === process.execPath ? 'node' : file);

// A command that ends well if this one is there.
export const asks = (file) => `command -v -- ${quote(nameOf(file))}`;

export const commandLine = (file, args, options) => {
  if (typeof file !== 'string') {
    throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "file" argument must be of type string. Received ${util.inspect(file)}`);
  }
  const name = nameOf(file);
  if (options.shell) return [name, ...args].join(' ');
  return `${asks(file)} >/dev/null 2>&1 || exit ${MISSING}; ${[name, ...args].map(quote).join(' ')}`;
};

export const checkZeros = (value, name) => {
  if (typeof value === 'string' && value.includes('\0')) throw invalidValue(name, value, 'must be a string without null bytes');
};
// Options that say as whom a command runs, and with what environment: what cannot be done is an error.
export const checkIdentity = (file, { argv0, uid, gid, env }) => {
  for (const [name, value] of Object.entries(env ?? {})) checkZeros(value, `options.env['${name}']`);
  if (typeof argv0 === 'string' && argv0 !== file) throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'the option `argv0` is not here: a command has its own name');
  if ((uid ?? process.getuid()) !== process.getuid() || (gid ?? process.getgid()) !== process.getgid()) {
    throw Object.assign(codedError(Error, 'EPERM', `spawn ${file} EPERM`), { errno: -1, syscall: `spawn ${file}` });
  }
};

// Processes have numbers, though nothing can be done with them.
let lastProcess = process.pid;
export const nextProcess = () => ++lastProcess;

const errnos = { ENOENT: -2, EBADF: -9, ENOTDIR: -20, ENOBUFS: -105, ETIMEDOUT: -110 };

// The error of a command that did not run, or not to its end, as the system call of this name failed.
export const systemFailure = (code, call, file, spawnargs) =>
  Object.assign(new Error(`${call} ${file} ${code}`), { errno: errnos[code], code, syscall: `${call} ${file}`, path: file, spawnargs });
