// `readline`: lines of a stream.
import { absent } from './absent.js';
import EventEmitter, { marks } from './events.js';
import process from './process.js';
import { codedError, invalidValue, promisify } from './util.js';

const decoder = () => new TextDecoder();

// Number of lines that may wait for a reader before reading of the input pauses.
const AHEAD = 1024;

// Queue with constant time per operation.
class Queue {
  #items = [];
  #at = 0;
  get length() {
    return this.#items.length - this.#at;
  }
  push(item) {
    this.#items.push(item);
  }
  shift() {
    const item = this.#items[this.#at];
    this.#items[this.#at++] = undefined;
    if (this.#at === this.#items.length) {
      this.#items = [];
      this.#at = 0;
    }
    return item;
  }
}

const linesOf = (text) => (text.includes('\r') ? text.split(/\r?\n/) : text.split('\n'));

class Interface extends EventEmitter {
  #lines = new Queue();
  #readers = new Queue();
  // Function that resumes reading once waiting lines are consumed.
  #goOn;
  #ended = false;
  closed = false;
  line = '';
  cursor = 0;
  terminal = false;
  #isPaused = false;
  #output;
  #prompt = '> ';
  #started = false;
  constructor({ input, output, prompt } = {}) {
    super();
    this.input = input;
    this.#output = output;
    if (prompt !== undefined) this.#prompt = prompt;
    for (const name of ['_events', '_eventsCount', '_maxListeners', ...marks]) Object.defineProperty(this, name, { enumerable: false });
    this.on('newListener', (name) => {
      if (name !== 'line') return;
      this.#start();
      if (this.#lines.length > 0) queueMicrotask(() => this.#tell());
    });
  }
  #start() {
    if (this.#started) return;
    this.#started = true;
    queueMicrotask(() => this.#read());
  }
  async #read() {
    try {
      const text = decoder();
      let rest = '';
      for await (const chunk of this.input) {
        if (this.closed) break;
        rest += typeof chunk === 'string' ? chunk : text.decode(chunk, { stream: true });
        const lines = linesOf(rest);
        rest = lines.pop();
        for (const line of lines) this.#give(line);
        if (this.closed) break;
        if (this.#lines.length > AHEAD) await new Promise((resolve) => (this.#goOn = resolve));
      }
      if (rest !== '' && !this.closed) this.#give(rest);
      this.#ended = true;
      this.close();
    } catch (error) {
      this.emit('error', error);
    }
  }
  #give(line) {
    // As in Node, lines are delivered even if a listener closes the interface while lines of the same chunk remain.
    if (this.closed) this.emit('line', line);
    else if (this.#readers.length > 0) this.#readers.shift()(line);
    else if (this.listenerCount('line') > 0) this.emit('line', line);
    else this.#lines.push(line);
  }
  // Emits lines that arrived before there was a listener.
  #tell() {
    while (this.#lines.length > 0 && this.listenerCount('line') > 0) this.emit('line', this.#taken());
  }
  #next() {
    this.#start();
    if (this.#lines.length > 0) return Promise.resolve(this.#taken());
    if (this.closed || this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
  #taken() {
    const line = this.#lines.shift();
    if (this.#lines.length === 0) this.#resumeReading();
    return line;
  }
  #resumeReading() {
    this.#goOn?.();
    this.#goOn = undefined;
  }
  question(query, options, callback = options) {
    if (this.closed) {
      const error = codedError(Error, 'ERR_USE_AFTER_CLOSE', 'readline was closed');
      if (typeof callback !== 'function') return Promise.reject(error);
      throw error;
    }
    this.#output?.write?.(query);
    if (typeof callback !== 'function') return this.#next().then((line) => line ?? '');
    const answer = (line) => line !== undefined && callback(line);
    // Answers as soon as the line arrives, so that the listener gets the next one.
    if (this.#lines.length > 0 || this.closed || this.#ended) this.#next().then(answer);
    else this.#readers.push(answer);
    this.#start();
    return undefined;
  }
  setPrompt(prompt) {
    this.#prompt = prompt;
  }
  prompt() {
    if (this.#isPaused) this.resume();
    this.#output?.write?.(this.#prompt);
    this.#start();
  }
  close() {
    if (this.closed) return;
    this.pause();
    this.closed = true;
    this.#resumeReading();
    while (this.#readers.length > 0) this.#readers.shift()(undefined);
    this.emit('close');
  }
  // As in Node, lines that have been read already are still delivered.
  pause() {
    if (!this.#isPaused) {
      this.#isPaused = true;
      this.emit('pause');
    }
    return this;
  }
  resume() {
    this.#start();
    if (this.#isPaused) {
      this.#isPaused = false;
      this.emit('resume');
    }
    return this;
  }
  getPrompt() {
    return this.#prompt;
  }
  write() {}
  [Symbol.asyncIterator]() {
    const result = (line) => (line === undefined ? { value: undefined, done: true } : { value: line, done: false });
    return {
      // A line that is available needs no second promise, which is the usual case.
      next: () => (this.#lines.length > 0 ? Promise.resolve(result(this.#taken())) : this.#next().then(result)),
      return: () => {
        this.close();
        return Promise.resolve(result(undefined));
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

Object.defineProperty(Interface.prototype.question, promisify.custom, {
  value: function question(query, options) {
    return new Promise((resolve) => this.question(query, options ?? {}, resolve));
  },
});

const createInterface = (input, output) => new Interface(typeof input?.on === 'function' || input?.[Symbol.asyncIterator] ? { input, output } : input);
export const promises = { createInterface, Interface };

// Writes a control sequence that moves the cursor of a terminal, whatever the stream is.
const sequence = (stream, text, callback) => {
  if (stream === null || stream === undefined || text === '') {
    if (typeof callback === 'function') process.nextTick(callback, null);
    return true;
  }
  return stream.write(text, callback);
};
const clearLine = (stream, direction, callback) => sequence(stream, direction < 0 ? '\x1b[1K' : direction > 0 ? '\x1b[0K' : '\x1b[2K', callback);
const clearScreenDown = (stream, callback) => sequence(stream, '\x1b[0J', callback);
const cursorTo = (stream, x, y, callback) => {
  if (typeof y === 'function') [y, callback] = [undefined, y];
  if (Number.isNaN(x) || Number.isNaN(y)) throw invalidValue(Number.isNaN(x) ? 'x' : 'y', NaN);
  if (typeof x !== 'number') {
    if (typeof y !== 'number') return sequence(stream, '', callback);
    throw codedError(TypeError, 'ERR_INVALID_CURSOR_POS', 'Cannot set cursor row without setting its column');
  }
  return sequence(stream, typeof y === 'number' ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`, callback);
};
const moved = (distance, back, forth) => (distance < 0 ? `\x1b[${-distance}${back}` : distance > 0 ? `\x1b[${distance}${forth}` : '');
const moveCursor = (stream, dx, dy, callback) => sequence(stream, moved(dx, 'D', 'C') + moved(dy, 'A', 'B'), callback);
const emitKeypressEvents = () => {
  throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'there are no keys here: standard input is no terminal; read lines with `createInterface`');
};

promises.Readline = absent('readline/promises', 'Readline', 'use `cursorTo`, `moveCursor` and `clearLine` of readline');
export default { createInterface, Interface, promises, clearLine, clearScreenDown, cursorTo, moveCursor, emitKeypressEvents };
