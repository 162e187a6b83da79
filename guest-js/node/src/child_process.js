// `child_process`: runs commands in the shell guest with the interface of Node. They are scripts of this run, and not
// processes of the machine.
import EventEmitter from './events.js';
import { Buffer } from './buffer.js';
import { execFileSync, execSync, spawnSync } from './child_process_sync.js';
import { asks, checkText, hindrance, nextProcess, normalize, toSignal, MAX_BUFFER, MISSING, systemFailure, whyAbsent } from './commands.js';
import { begin, collect, scriptOf } from './shell.js';
import stream from './stream.js';
import process from './process.js';
import util, { abortError, codedError, invalidType } from './util.js';

const { Readable, Writable } = stream;

const empty = new Uint8Array(0);
// Capacity of a stream, in bytes.
const CHUNK = 64 * 1024;

class ChildProcess extends EventEmitter {
  pid = undefined;
  exitCode = null;
  signalCode = null;
  killed = false;
  connected = false;
  #running;
  #signal;
  // Promises that precede the end of the child: its start, and the reading of its streams.
  #before;
  constructor(running, { file: spawnfile, args, options }, whyMissing, before = () => []) {
    super();
    const spawnargs = [spawnfile, ...args];
    this.#running = running;
    this.#before = before;
    Object.assign(this, { spawnfile, spawnargs });
    const why = async (code) => (code === MISSING ? whyMissing() : undefined);
    const fail = (cause) => this.#fail(systemFailure(cause, 'spawn', spawnfile, spawnargs.slice(1)));
    running.exited.then(
      (code) => why(code).then((cause) => (cause === undefined ? this.#end(code, null) : fail(cause))),
      (error) => {
        if (this.killed) this.#end(null, this.#signal);
        else if (options.signal?.aborted) {
          this.killed = true;
          this.emit('error', abortError(options.signal));
          this.#end(null, toSignal(options.killSignal));
        } else {
          this.emit('error', error);
          this.#end(error.name === 'LimitError' ? 137 : 1, null);
        }
      },
    );
  }
  // Reports a child that did not start: an error takes the place of its end.
  #fail(error) {
    this.exitCode = error.errno;
    this.pid = undefined;
    process.nextTick(() => this.emit('error', error));
    process.nextTick(() => this.#close(error.errno, null));
  }
  #end(code, signal) {
    Object.assign(this, { exitCode: code, signalCode: signal });
    const exit = () => {
      this.emit('exit', code, signal);
      this.#close(code, signal);
    };
    Promise.all(this.#before()).then(() => setImmediate(exit));
  }
  #close(code, signal) {
    const waits = [this.stdout, this.stderr].filter((stream) => stream && !stream.readableEnded && !stream.destroyed);
    let left = waits.length;
    const close = () => this.emit('close', code, signal);
    if (left === 0) queueMicrotask(close);
    // As in Node, streams that nothing reads are drained, so that they close.
    for (const stream of waits) stream.once('close', () => --left === 0 && close()).resume();
  }
  kill(signal = 'SIGTERM') {
    if (this.exitCode !== null || this.signalCode !== null) return false;
    this.killed = true;
    this.#signal = typeof signal === 'string' ? signal : 'SIGTERM';
    this.#running.stop(new Error('killed'));
    return true;
  }
  ref() {}
  unref() {}
}

// Returns the readable stream of an output. `progress.begun` is a promise to wait for before reading, and `progress`
// gets the promise of what is being read.
const readable = (running, which, progress) =>
  new Readable({
    read() {
      const reading = progress.begun === undefined ? running.read(which) : progress.begun.then(() => running.read(which));
      progress[which] = reading.then(
        (bytes) => this.push(bytes.length === 0 ? null : Buffer.from(bytes)),
        () => this.push(null),
      );
    },
    destroy(error, callback) {
      if (!this.readableEnded) running.close(which).catch(() => {});
      callback(error);
    },
  });

const writable = (running) => {
  let total = 0;
  return new Writable({
    write(chunk, encoding, callback) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
      const give = async () => {
        await running.write(empty, false);
        for (let at = 0; at < bytes.length; at += CHUNK) await running.write(new Uint8Array(bytes.subarray(at, at + CHUNK)), false);
      };
      total += bytes.length;
      // Data in the pipe counts as written, even if the command did not read it.
      give().then(() => callback(), () => callback(total > CHUNK ? codedError(Error, 'EPIPE', 'write EPIPE') : null));
    },
    final(callback) {
      running.write(empty, true).then(() => callback(), () => callback());
    },
  });
};

// Returns a function that tells why a command is missing. bash reports a missing command only by an exit status, which
// a real command may have too, so its existence is checked afterwards.
const whyMissing = ({ file, options, cause }) => async () => {
  if (cause !== undefined || options.shell) return cause;
  return (await isThere(file, options)) ? undefined : whyAbsent(file, scriptOf('', settings(options)).directory);
};
const isThere = async (file, options) => (await collect(begin(asks(file), settings(options), isThere))).exitCode === 0;

// Emits `spawn` if there is a listener. The command is looked up first, because a missing one emits only an error.
const tellBegun = async (child, { file, options }) => {
  if (!options.shell && !(await isThere(file, options))) return;
  await new Promise((resolve) => {
    process.nextTick(() => {
      resolve();
      child.emit('spawn');
    });
  });
};

// Begins a command. A child that cannot start ends at once, like one whose command is missing; `call.cause` is the
// reason.
const started = (call, below) => {
  const { source, options } = call;
  const wanted = settings(options);
  call.cause = hindrance(scriptOf(source, wanted).directory, options);
  return call.cause === undefined ? begin(source, wanted, below) : begin(`exit ${MISSING}`, { ...wanted, cwd: undefined }, below);
};
const killLater = (child, { timeout, killSignal }) => {
  if (timeout > 0) setTimeout(() => child.kill(toSignal(killSignal)), timeout).unref();
};

const settings = (options) => ({ cwd: options.cwd, env: options.env, signal: host.signalOf(options) });

const spawn = (name, given, wants) => {
  const call = normalize(name, given, wants);
  const { options } = call;
  if (typeof options.stdio === 'string' && !['pipe', 'ignore', 'inherit', 'overlapped'].includes(options.stdio)) {
    throw codedError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'stdio' is invalid. Received ${host.inspect(options.stdio)}`);
  }
  const running = started(call, spawn);
  const progress = {};
  const child = new ChildProcess(running, call, whyMissing(call), () => Object.values(progress));
  child.pid = nextProcess();
  const wanted = typeof options.stdio === 'string' ? Array(3).fill(options.stdio) : (options.stdio ?? []);
  const forward = async (which, write) => {
    for (;;) {
      const bytes = await running.read(which).catch(() => empty);
      if (bytes.length === 0) return;
      write(bytes);
    }
  };
  child.stdin = (wanted[0] ?? 'pipe') === 'pipe' ? writable(running) : null;
  if (child.stdin === null) running.write(empty, true).catch(() => {});
  for (const [which, name] of [[1, 'stdout'], [2, 'stderr']]) {
    const how = wanted[which] ?? 'pipe';
    child[name] = how === 'pipe' ? readable(running, which, progress) : null;
    if (how === 'inherit') forward(which, (bytes) => host.native.outputBytes(bytes, which === 2));
    else if (how !== 'pipe') forward(which, () => {});
  }
  child.stdio = [child.stdin, child.stdout, child.stderr];
  killLater(child, options);
  process.nextTick(() => {
    if (call.cause === undefined && child.listenerCount('spawn') > 0) progress.begun = tellBegun(child, call).catch(() => {});
  });
  return child;
};

const failure = (child, command, code, output) => {
  const error = new Error(`Command failed: ${command}\n${output.stderr}`);
  return Object.assign(error, { code, killed: child.killed, signal: child.signalCode, cmd: command });
};

// Returns a stream of output that is also collected, and the function that feeds it. Data that nothing reads is not
// buffered in it.
const shownStream = (encoding) => {
  const stream = new Readable({ read() {} });
  if (encoding !== null && encoding !== 'buffer') stream.setEncoding(encoding);
  stream.resume();
  return [stream, (bytes) => stream.push(bytes.length === 0 ? null : Buffer.from(bytes))];
};

// Offers standard input to a child. The input ends unless the script asks for the stream in the turn that began the
// command, since most commands that read are given nothing.
const offerInput = (child, running) => {
  let stdin;
  const open = () => (stdin ??= writable(running));
  Object.defineProperty(child, 'stdin', { get: open, set: (given) => (stdin = given), enumerable: true, configurable: true });
  process.nextTick(() => {
    if (stdin === undefined) open().end();
  });
};

// Collects the output of a command and passes it to a callback, as Node does. `shown` is the name of the command in
// errors.
const gather = (call, shown, callback) => {
  const { file, args, options } = call;
  const running = started(call, gather);
  const child = new ChildProcess(running, call, async () => undefined);
  // As in Node, an abort is reported to the callback, and the child ends by itself.
  let aborted;
  child.on('error', (error) => (aborted ??= error));
  child.pid = nextProcess();
  killLater(child, options);
  const encoding = options.encoding === undefined ? 'utf8' : options.encoding;
  const [[stdout, showOut], [stderr, showErr]] = [shownStream(encoding), shownStream(encoding)];
  if (options.input === undefined) offerInput(child, running);
  else child.stdin = null;
  Object.assign(child, { stdout, stderr });
  Object.defineProperty(child, 'stdio', { get: () => [child.stdin, child.stdout, child.stderr], enumerable: true, configurable: true });
  const decode = (bytes) => {
    const buffer = Buffer.from(bytes);
    return encoding === 'buffer' || encoding === null ? buffer : buffer.toString(encoding);
  };
  const most = options.maxBuffer ?? MAX_BUFFER;
  const finish = ({ stdout, stderr, exitCode }) => {
    const output = { stdout: decode(stdout), stderr: decode(stderr) };
    for (const [name, bytes] of [['stdout', stdout], ['stderr', stderr]]) {
      if (bytes.length > most) {
        const error = codedError(RangeError, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER', `${name} maxBuffer length exceeded`);
        return callback?.(error, output.stdout, output.stderr);
      }
    }
    if (exitCode === 0) return callback?.(null, output.stdout, output.stderr);
    if (exitCode === MISSING) {
      return whyMissing(call)().then((cause) => {
        const failed = () => Object.assign(systemFailure(cause, 'spawn', file, args), { cmd: shown });
        const error = cause === undefined ? failure(child, shown, exitCode, output) : failed();
        callback?.(error, output.stdout, output.stderr);
      });
    }
    const error = failure(child, shown, exitCode, output);
    callback?.(error, output.stdout, output.stderr);
  };
  collect(running, options.input ?? null, [showOut, showErr]).then(finish, (error) => {
    const output = { stdout: decode(empty), stderr: decode(empty) };
    for (const show of [showOut, showErr]) show(empty);
    const told = aborted ?? (child.killed ? failure(child, shown, null, output) : error);
    callback?.(told, output.stdout, output.stderr);
  });
  return child;
};

const checkCallback = (callback) => {
  if (callback != null && typeof callback !== 'function') throw invalidType('callback', 'function', callback);
};

const exec = (command, options, callback) => {
  checkText(command, 'command');
  if (typeof options === 'function') [options, callback] = [{}, options];
  checkCallback(callback);
  const shell = typeof options?.shell === 'string' ? options.shell : true;
  return gather(normalize(command, [], { ...options, shell }), command, callback);
};

// `args` and `options` may be omitted.
const execFile = (file, args, options, callback) => {
  if (typeof args === 'function') [args, options, callback] = [[], {}, args];
  else if (args !== null && typeof args === 'object' && !Array.isArray(args)) [args, options, callback] = [[], args, options];
  if (typeof options === 'function') [options, callback] = [{}, options];
  checkCallback(callback);
  const call = normalize(file, args ?? [], options ?? {});
  return gather(call, call.options.shell ? call.args[1] : [file, ...(args ?? [])].join(' '), callback);
};

const promised = (run) =>
  function (...values) {
    let child;
    const promise = new Promise((resolve, reject) => {
      child = run(...values, (error, stdout, stderr) =>
        error ? reject(Object.assign(error, { stdout, stderr })) : resolve({ stdout, stderr }),
      );
    });
    return Object.assign(promise, { child });
  };
Object.defineProperty(exec, util.promisify.custom, { value: promised(exec) });
Object.defineProperty(execFile, util.promisify.custom, { value: promised(execFile) });

const fork = () => {
  throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'fork is not here: use `spawn("node", [file])`');
};

export default { ChildProcess, exec, execFile, execFileSync, execSync, fork, spawn, spawnSync };
