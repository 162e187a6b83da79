// `shell` and `$`: run bash in a guest of its own, with the same files, tools, grants and budgets.
import { codedError } from './util.js';

// Size of the pieces of input, in bytes.
const CHUNK = 64 * 1024;

const fail = (message) => codedError(TypeError, 'ERR_INVALID_ARG_TYPE', message);

const toBytes = (input) => {
  if (input === undefined || input === null) return new Uint8Array(0);
  if (typeof input === 'string') return host.native.encodeUtf8(input);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw fail('the option `input` is a string or bytes');
};

// Feeds input to a script until the script ends or the input does.
const feed = async (running, bytes) => {
  try {
    if (bytes.length > 0) await running.write(new Uint8Array(0), false);
    for (let at = 0; at < bytes.length; at += CHUNK) await running.write(bytes.slice(at, at + CHUNK), false);
    await running.write(new Uint8Array(0), true);
  } catch {
    // The script has ended, and the rest of the input is not needed.
  }
};

const drain = async (running, which, show) => {
  const parts = [];
  let length = 0;
  for (;;) {
    const bytes = await running.read(which);
    show(bytes);
    if (bytes.length === 0) break;
    parts.push(bytes);
    length += bytes.length;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

// Converts variables to pairs. The shell sets its working directory itself.
const pairs = (variables) =>
  Object.entries(variables).flatMap(([name, value]) => (value === undefined || name === 'PWD' ? [] : [name, String(value)]));

// Returns a bash script in the form of the host.
export const scriptOf = (source, { args = [], cwd, env }) => {
  const directory = cwd === undefined ? host.cwd() : host.toPath(cwd, 'cwd');
  return {
    language: 'shell',
    source,
    name: 'shell',
    arguments: args.map(String),
    environment: pairs(env ?? host.env),
    directory: directory.startsWith('/') ? directory : `${host.cwd()}/${directory}`,
  };
};

// Begins a bash script.
export const begin = (source, options = {}, below) => host.runScript(scriptOf(source, options), options.signal, below);

const nobody = () => {};

// Runs a script to its end, and returns its output as bytes. `show` has two functions that get the output as it
// arrives, and nothing at its end. `input` is null if the caller feeds the input itself.
export const collect = async (running, input, show = [nobody, nobody]) => {
  const [exitCode, stdout, stderr] = await Promise.all([
    running.exited,
    drain(running, 1, show[0]),
    drain(running, 2, show[1]),
    input === null ? undefined : feed(running, toBytes(input)),
  ]);
  return { stdout, stderr, exitCode };
};

const read = (options, below) => {
  if (options === undefined) return { env: host.env };
  if (options === null || typeof options !== 'object') throw fail('the options of `shell` are an object');
  const env = options.env === undefined ? host.env : { ...host.env, ...options.env };
  return { ...options, env, signal: host.signalOf(options, below) };
};

const text = (bytes) => host.native.decodeUtf8Lossy(bytes);

const execute = async (command, options, below) => {
  if (typeof command !== 'string') throw fail(`shell takes the text of a bash script, got ${host.inspect(command)}`);
  const { input, ...rest } = read(options, below);
  const { stdout, stderr, exitCode } = await collect(begin(command, rest, below), input);
  return { stdout: text(stdout), stderr: text(stderr), exitCode };
};

export class ShellError extends Error {
  constructor(command, { stdout, stderr, exitCode }) {
    const said = stderr.trim();
    super(`exit status ${exitCode}: ${command}${said === '' ? '' : `\n${said}`}`);
    Object.assign(this, { exitCode, stdout, stderr });
  }
}
Object.defineProperty(ShellError.prototype, 'name', { value: 'ShellError', writable: true, configurable: true });

const orThrow = (command, result) => {
  if (result.exitCode !== 0) throw new ShellError(command, result);
  return result;
};

// Runs a bash script. Returns its output and its exit status, which may be a failure.
export const shell = (command, options) => execute(command, options, shell);
// Runs a bash script, and returns its standard output. A status other than 0 throws an error.
shell.run = async (command, options) => orThrow(command, await execute(command, options, shell.run)).stdout;

// Quotes a value as one word of bash.
export const quote = (value) => {
  const word = String(value);
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
};
shell.quote = quote;

const word = (value) => {
  if (Array.isArray(value)) return value.map(word).join(' ');
  if (value !== null && typeof value === 'object' && typeof value.raw === 'string') return value.raw;
  if (typeof value === 'symbol' || value === undefined || value === null || typeof value === 'function') {
    throw fail(`\`$\` takes words, got ${host.inspect(value)}`);
  }
  return quote(value);
};

// Command that starts when it is awaited, or at the latest when the script waits for something else.
class ShellCommand {
  #command;
  #options;
  #throws = true;
  #promise;
  constructor(command, options) {
    this.#command = command;
    this.#options = options;
    queueMicrotask(() => this.#begin());
  }
  #begin() {
    return (this.#promise ??= execute(this.#command, this.#options, this.#begin).then((result) =>
      this.#throws ? orThrow(this.#command, result) : result,
    ));
  }
  #with(options) {
    if (this.#promise !== undefined) throw new Error('the command has begun already');
    this.#options = { ...this.#options, ...options };
    return this;
  }
  then(...handlers) {
    return this.#begin().then(...handlers);
  }
  catch(handler) {
    return this.#begin().catch(handler);
  }
  finally(handler) {
    return this.#begin().finally(handler);
  }
  nothrow() {
    this.#throws = false;
    return this;
  }
  cwd(directory) {
    return this.#with({ cwd: directory });
  }
  env(variables) {
    return this.#with({ env: variables });
  }
  input(data) {
    return this.#with({ input: data });
  }
  async text() {
    return (await this.#begin()).stdout;
  }
  async lines() {
    const lines = (await this.text()).split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines;
  }
  async json() {
    return JSON.parse(await this.text());
  }
}

// Tag for templates such as `$`ls ${directory}``, in which each value becomes a single word, whatever it contains.
export const $ = (strings, ...values) => {
  if (!Array.isArray(strings?.raw)) throw fail('`$` is a template tag: $`ls ${directory}`');
  let command = strings[0];
  for (let i = 0; i < values.length; i++) command += word(values[i]) + strings[i + 1];
  return new ShellCommand(command, {});
};
