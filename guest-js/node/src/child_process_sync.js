// `execSync`, `execFileSync` and `spawnSync`: run commands to their end within a step. Nothing in such a command may
// wait.
import { Buffer } from './buffer.js';
import { asks, checkText, hindrance, nextProcess, normalize, toSignal, MAX_BUFFER, MISSING, systemFailure, whyAbsent } from './commands.js';
import { isOpen } from './descriptors.js';
import fs from './fs.js';
import process from './process.js';
import { scriptOf } from './shell.js';
import { codedError, invalidType, invalidValue, outOfRange } from './util.js';

// Functions to use instead for a command that waits.
const instead = {
  execSync: '`exec`, or `await shell.run(command)`',
  execFileSync: '`execFile`, or `await shell.run(command)`',
  spawnSync: '`spawn`, or `await shell(command)`',
};

// Converts the setting of one stream: `'pipe'`, `'ignore'`, or the number of a descriptor.
const toStream = (given, at) => {
  if (given === undefined || given === null) return at < 3 ? 'pipe' : 'ignore';
  if (given === 'pipe' || given === 'overlapped' || (typeof given === 'number' && given < 0)) return 'pipe';
  if (given === 'ignore') return given;
  if (given === 'inherit') return at;
  if (given === 'ipc') throw codedError(Error, 'ERR_IPC_SYNC_FORK', 'IPC cannot be used with synchronous forks');
  if (typeof given === 'number') return given;
  if (typeof given.fd === 'number') return given.fd;
  throw invalidValue('stdio', given);
};
const toStreams = (stdio) => {
  const given = typeof stdio === 'string' ? Array(3).fill(stdio) : stdio;
  if (!Array.isArray(given) || (typeof stdio === 'string' && !['pipe', 'overlapped', 'ignore', 'inherit'].includes(stdio))) {
    throw invalidValue('stdio', stdio);
  }
  const streams = Array.from({ length: Math.max(given.length, 3) }, (_, at) => toStream(given[at], at));
  if (streams.some((stream, at) => at > 2 && stream !== 'ignore')) {
    throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'a command has three streams here: write to files for more');
  }
  return streams;
};

const toInput = (input, encoding) => {
  if (typeof input === 'string') return Buffer.from(input, encoding);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  throw invalidType('options.stdio[0]', 'string or an instance of Buffer, TypedArray, or DataView', input);
};

// Returns the input of the command: bytes, or nothing for the standard input of this script.
const inputOf = (stream, options) => {
  const input = options.input && toInput(options.input, options.encoding);
  if (stream === 'pipe' && input) return input;
  if (stream === 0) return undefined;
  return typeof stream === 'number' ? fs.readFileSync(stream) : new Uint8Array(0);
};

// Returns the destination of an output stream, in the form of `runToEnd`.
const destinationOf = (stream, most) => {
  if (stream === 'pipe') return most;
  if (stream === 'ignore') return 'dropped';
  if (stream === 1 || stream === 2) return stream === 1 ? 'stdout' : 'stderr';
  return Infinity;
};

// Returns true if a stream goes to a file once the command has ended.
const isFile = (stream) => typeof stream === 'number' && stream > 2;

const unstarted = (error) => ({ error, status: null, signal: null, output: null, pid: 0, stdout: null, stderr: null });

// Runs a normalized call of the function `name`, and returns the result of Node's `spawnSync`.
const run = (name, { file, args, source, options }, below) => {
  const killSignal = toSignal(options.killSignal);
  const streams = toStreams(options.stdio || 'pipe');
  const failed = (code) => systemFailure(code, 'spawnSync', file, args);
  const isWrong = (stream, at) => typeof stream === 'number' && (stream > 2 ? !isOpen(stream) : at > 0 && stream === 0);
  if (streams.some(isWrong)) return unstarted(failed('EBADF'));
  const input = inputOf(streams[0], options);
  const script = scriptOf(source, { cwd: options.cwd ?? undefined, env: options.env || host.env });
  const cause = hindrance(script.directory, options);
  if (cause !== undefined) return unstarted(failed(cause));
  const isShared = isFile(streams[1]) && streams[1] === streams[2];
  if (isShared) script.source = `exec 2>&1; ${source}`;
  const most = options.maxBuffer ?? MAX_BUFFER;
  const [stdout, stderr] = [1, 2].map((at) => destinationOf(streams[at], most));
  const wanted = { ...script, input: input && new Uint8Array(input), stdout, stderr, timeout: options.timeout || undefined };
  const ended = host.runToEnd(wanted, below);
  if (ended.status === MISSING && !options.shell && !isThere(script, file, below)) return unstarted(failed(whyAbsent(file, script.directory)));
  const written = [undefined, ended.stdout, ended.stderr];
  streams.forEach((stream, at) => isFile(stream) && at > 0 && written[at].length > 0 && fs.writeFileSync(stream, written[at]));
  return resultOf(name, { ended, streams, written, options, killSignal, failed });
};

const isThere = (script, file, below) => {
  const source = `${asks(file)} >/dev/null 2>&1`;
  return host.runToEnd({ ...script, source, input: new Uint8Array(0), stdout: 'dropped', stderr: 'dropped' }, below).status === 0;
};

const resultOf = (name, { ended, streams, written, options, killSignal, failed }) => {
  const { encoding } = options;
  const isText = encoding && encoding !== 'buffer';
  const output = streams.map((stream, at) => {
    if (at === 0 || stream !== 'pipe') return null;
    const buffer = Buffer.from(written[at]);
    if (!isText) return buffer;
    if (buffer.length === 0) return '';
    if (!Buffer.isEncoding(encoding)) throw codedError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
    return buffer.toString(encoding);
  });
  const killed = ended.how !== 'exited';
  const ending = { status: killed ? null : ended.status, signal: killed ? killSignal : null, output, pid: nextProcess() };
  const result = { ...ending, stdout: output[1], stderr: output[2] };
  if (ended.how === 'asked') {
    const message = `${name}: the command asks for ${ended.what}, and a script cannot wait for that without \`await\`: use ${instead[name]}`;
    throw Object.assign(codedError(Error, 'ERR_FEATURE_UNAVAILABLE', message), result);
  }
  if (ended.how === 'timed out') return { error: failed('ETIMEDOUT'), ...result };
  if (ended.how === 'overflowed') return { error: failed('ENOBUFS'), ...result };
  return result;
};

// Passes standard error on unless it was redirected, and throws an error if the command failed.
const orThrow = (result, options, command) => {
  if (!options.stdio && result.stderr) process.stderr.write(result.stderr);
  if (result.error) throw Object.assign(result.error, result);
  if (result.status !== 0) {
    const said = result.stderr && result.stderr.length > 0 ? `\n${result.stderr}` : '';
    throw Object.assign(new Error(`Command failed: ${command}${said}`), result);
  }
  return result.stdout;
};

export const spawnSync = (file, args, options) => run('spawnSync', normalize(file, args, options), spawnSync);

export const execSync = (command, options) => {
  checkText(command, 'command');
  const given = { __proto__: null, ...options };
  const call = normalize(command, [], { ...given, shell: typeof given.shell === 'string' ? given.shell : true });
  return orThrow(run('execSync', call, execSync), given, command);
};

export const execFileSync = (file, args, options) => {
  if (!Array.isArray(args) && args !== null && typeof args === 'object') [args, options] = [[], args];
  const call = normalize(file, args ?? [], options ?? {});
  const words = [call.options.argv0 || file, ...(args ?? [])];
  return orThrow(run('execFileSync', call, execFileSync), call.options, words.join(' '));
};
