// Streams of Node from streams of the web, and the other way: `fromWeb` and `toWeb` of `Readable`, `Writable` and `Duplex`.
import stream from './stream.js';
import { invalidType } from './util.js';
import { CountQueuingStrategy, ReadableStream, WritableStream } from './webstreams.js';

const { Duplex, Readable, Writable, finished } = stream;
const nothing = () => {};

const check = (value, Class, name) => {
  if (!(value instanceof Class)) throw invalidType(name, `an instance of ${Class.name}`, value);
};

// Returns the methods of a readable side that takes its chunks from a reader.
const readingFrom = (reader, self) => {
  let isClosed = false;
  reader.closed.then(
    () => (isClosed = true),
    (error) => {
      isClosed = true;
      self().destroy(error);
    },
  );
  return {
    read() {
      reader.read().then(({ done, value }) => self().push(done ? null : value), (error) => self().destroy(error));
    },
    release: (error) => (isClosed ? Promise.resolve() : reader.cancel(error)),
  };
};

// Returns the methods of a writable side that gives its chunks to a writer.
const writingTo = (writer, self) => {
  let isClosed = false;
  writer.closed.then(
    () => (isClosed = true),
    (error) => {
      isClosed = true;
      self().destroy(error);
    },
  );
  return {
    write(chunk, encoding, callback) {
      writer.ready.then(() => writer.write(chunk)).then(() => callback(), callback);
    },
    final(callback) {
      (isClosed ? Promise.resolve() : writer.close()).then(() => callback(), callback);
    },
    release: (error) => (isClosed ? Promise.resolve() : error === null || error === undefined ? writer.close() : writer.abort(error)),
  };
};

// Returns the `destroy` of a stream that releases what it holds first.
const destroying = (...sides) => (error, callback) => {
  Promise.allSettled(sides.map((side) => side.release(error))).then(() => callback(error));
};

Readable.fromWeb = {
  fromWeb(source, options = {}) {
    check(source, ReadableStream, 'readableStream');
    const side = readingFrom(source.getReader(), () => made);
    const made = new Readable({ ...options, read: side.read, destroy: destroying(side) });
    return made;
  },
}.fromWeb;

Writable.fromWeb = {
  fromWeb(target, options = {}) {
    check(target, WritableStream, 'writableStream');
    const side = writingTo(target.getWriter(), () => made);
    const made = new Writable({ decodeStrings: true, ...options, write: side.write, final: side.final, destroy: destroying(side) });
    return made;
  },
}.fromWeb;

Duplex.fromWeb = {
  fromWeb(pair, options = {}) {
    if (pair === null || typeof pair !== 'object') throw invalidType('pair', 'object', pair);
    check(pair.readable, ReadableStream, 'pair.readable');
    check(pair.writable, WritableStream, 'pair.writable');
    const [from, to] = [readingFrom(pair.readable.getReader(), () => made), writingTo(pair.writable.getWriter(), () => made)];
    const made = new Duplex({ ...options, read: from.read, write: to.write, final: to.final, destroy: destroying(from, to) });
    return made;
  },
}.fromWeb;

Readable.toWeb = {
  toWeb(source, options = {}) {
    if (typeof source?.on !== 'function' || typeof source.read !== 'function') throw invalidType('streamReadable', 'an stream.Readable', source);
    const { readableObjectMode, readableHighWaterMark: highWaterMark } = source;
    const strategy = options.strategy ?? (readableObjectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark });
    source.pause();
    return new ReadableStream(
      {
        start(controller) {
          const stop = finished(source, { writable: false }, (error) => {
            stop();
            // A late error of a stream that has ended has nobody who waits for it.
            source.on('error', nothing);
            if (error) controller.error(error);
            else controller.close();
          });
          source.on('data', (chunk) => {
            controller.enqueue(ArrayBuffer.isView(chunk) && !readableObjectMode ? new Uint8Array(chunk) : chunk);
            if (controller.desiredSize <= 0) source.pause();
          });
          source.pause();
        },
        pull: () => void source.resume(),
        cancel: (reason) => void source.destroy(reason),
      },
      strategy,
    );
  },
}.toWeb;

Writable.toWeb = {
  toWeb(target) {
    if (typeof target?.write !== 'function' || typeof target.on !== 'function') throw invalidType('streamWritable', 'an stream.Writable', target);
    const { writableObjectMode, writableHighWaterMark: highWaterMark } = target;
    let closing;
    return new WritableStream(
      {
        start(controller) {
          const stop = finished(target, { readable: false }, (error) => {
            stop();
            target.on('error', nothing);
            if (closing === undefined) controller.error(error ?? new Error('The stream was closed'));
            else if (error) closing.reject(error);
            else closing.resolve();
          });
        },
        write(chunk) {
          if (target.write(chunk)) return undefined;
          return new Promise((resolve) => target.once('drain', resolve));
        },
        close() {
          return new Promise((resolve, reject) => {
            closing = { resolve, reject };
            target.end();
          });
        },
        abort: (reason) => void target.destroy(reason),
      },
      writableObjectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark, size: (chunk) => chunk?.byteLength ?? chunk?.length ?? 1 },
    );
  },
}.toWeb;

Duplex.toWeb = {
  toWeb(duplex) {
    return { readable: Readable.toWeb(duplex), writable: Writable.toWeb(duplex) };
  },
}.toWeb;
