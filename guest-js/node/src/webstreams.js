// Streams of the web, shown in the form of Node.
import { ByteLengthQueuingStrategy, CountQueuingStrategy, ReadableStream, TransformStream, WritableStream } from 'web-streams-polyfill';
import { codedError } from './util.js';

const custom = Symbol.for('nodejs.util.inspect.custom');
const shownAs = (Class, fields) => {
  Object.defineProperty(Class.prototype, custom, {
    value(depth, options) {
      return `${Class.name} ${host.inspect(fields(this), options)}`;
    },
    writable: true,
    configurable: true,
  });
};
shownAs(ReadableStream, (stream) => ({ locked: stream.locked, state: stream._state, supportsBYOB: false }));
shownAs(WritableStream, (stream) => ({ locked: stream.locked, state: stream._state }));
shownAs(TransformStream, (stream) => ({ readable: stream.readable, writable: stream.writable, backpressure: stream._backpressure }));

for (const Strategy of [ByteLengthQueuingStrategy, CountQueuingStrategy]) shownAs(Strategy, ({ highWaterMark }) => ({ highWaterMark }));

const { getReader } = ReadableStream.prototype;
ReadableStream.prototype.getReader = {
  getReader(options) {
    if (this.locked) throw codedError(TypeError, 'ERR_INVALID_STATE', 'Invalid state: ReadableStream is locked');
    return getReader.call(this, options);
  },
}.getReader;

// Streams that encode text and decode bytes.
class TextEncoderStream extends TransformStream {
  constructor() {
    const encoder = new TextEncoder();
    // First half of a surrogate pair whose second half has not arrived.
    let half = '';
    super({
      transform(chunk, controller) {
        const text = half + String(chunk);
        half = /[\ud800-\udbff]$/.test(text) ? text.at(-1) : '';
        const bytes = encoder.encode(half === '' ? text : text.slice(0, -1));
        if (bytes.length > 0) controller.enqueue(bytes);
      },
      flush(controller) {
        if (half !== '') controller.enqueue(encoder.encode(half));
      },
    });
  }
  get encoding() {
    return 'utf-8';
  }
}
class TextDecoderStream extends TransformStream {
  #decoder;
  constructor(label, options) {
    const decoder = new TextDecoder(label, options);
    super({
      transform(chunk, controller) {
        const text = decoder.decode(chunk, { stream: true });
        if (text !== '') controller.enqueue(text);
      },
      flush(controller) {
        const text = decoder.decode();
        if (text !== '') controller.enqueue(text);
      },
    });
    this.#decoder = decoder;
  }
  get encoding() {
    return this.#decoder.encoding;
  }
  get fatal() {
    return this.#decoder.fatal;
  }
  get ignoreBOM() {
    return this.#decoder.ignoreBOM;
  }
}

const sides = ({ readable, writable }) => ({ readable, writable });
shownAs(TextEncoderStream, (stream) => ({ encoding: stream.encoding, ...sides(stream) }));
shownAs(TextDecoderStream, (stream) => ({ encoding: stream.encoding, fatal: stream.fatal, ignoreBOM: stream.ignoreBOM, ...sides(stream) }));

export * from 'web-streams-polyfill';
export { TextDecoderStream, TextEncoderStream };
