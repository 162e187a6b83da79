// `readline`: lines of a stream.
import EventEmitter from './events.js';

const decoder = () => new TextDecoder();

class Interface extends EventEmitter {
  #lines = [];
  #readers = [];
  #ended = false;
  closed = false;
  #output;
  #prompt = '> ';
  #started = false;
  constructor({ input, output, prompt } = {}) {
    super();
    this.input = input;
    this.#output = output;
    if (prompt !== undefined) this.#prompt = prompt;
    for (const name of ['_events', '_eventsCount', '_maxListeners']) Object.defineProperty(this, name, { enumerable: false });
    this.on('newListener', (name) => {
      if (name === 'line') this.#start();
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
        rest += typeof chunk === 'string' ? chunk : text.decode(chunk, { stream: true });
        const lines = rest.split(/\r?\n/);
        rest = lines.pop();
        for (const line of lines) this.#give(line);
        if (this.closed) break;
      }
      if (rest !== '') this.#give(rest);
      this.#ended = true;
      this.close();
    } catch (error) {
      this.emit('error', error);
    }
  }
  #give(line) {
    if (this.closed) return;
    if (this.#readers.length > 0) this.#readers.shift()(line);
    else if (this.listenerCount('line') > 0) this.emit('line', line);
    else this.#lines.push(line);
  }
  #next() {
    this.#start();
    if (this.#lines.length > 0) return Promise.resolve(this.#lines.shift());
    if (this.closed || this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
  question(query, options, callback = options) {
    this.#output?.write?.(query);
    if (typeof callback !== 'function') return this.#next().then((line) => line ?? '');
    this.#next().then((line) => line !== undefined && callback(line));
    return undefined;
  }
  setPrompt(prompt) {
    this.#prompt = prompt;
  }
  prompt() {
    this.#output?.write?.(this.#prompt);
    this.#start();
  }
  close() {
    if (this.closed) return;
    this.closed = true;
    for (const reader of this.#readers.splice(0)) reader(undefined);
    this.emit('close');
  }
  pause() {
    return this;
  }
  resume() {
    this.#start();
    return this;
  }
  write() {}
  async *[Symbol.asyncIterator]() {
    for (;;) {
      const line = await this.#next();
      if (line === undefined) return;
      yield line;
    }
  }
}

const createInterface = (input, output) => new Interface(typeof input?.on === 'function' || input?.[Symbol.asyncIterator] ? { input, output } : input);
export const promises = { createInterface, Interface };
export default { createInterface, Interface, promises, clearLine: () => true, cursorTo: () => true, moveCursor: () => true };
