// The web's streams, shown as Node shows them.
import { ReadableStream, TransformStream, WritableStream } from 'web-streams-polyfill';

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

export * from 'web-streams-polyfill';
