// Streams of files.
import { Buffer } from './buffer.js';
import * as descriptors from './descriptors.js';
import fs, { checkedPath, encodingOf, sync } from './fs.js';
import { FileHandle } from './fs-handles.js';
import stream from './stream.js';
import { invalidType, isWhole, outOfRange } from './util.js';

const checkPlace = (name, value) => {
  if (value === undefined) return;
  if (typeof value !== 'number') throw invalidType(name, 'number', value);
  if (value !== Infinity && !isWhole(value)) throw outOfRange(name, 'an integer', value);
  if (value < 0) throw outOfRange(name, '>= 0 && <= 9007199254740991', value);
};

// Returns the functions that file streams share: they open the file or take an open one, and close it at the end.
const openAndClose = (path, { flags, mode, fd }) => {
  let handle = fd instanceof FileHandle ? fd : undefined;
  let descriptor = handle === undefined ? fd : handle.fd;
  return {
    descriptor: () => descriptor,
    construct(callback) {
      if (descriptor != null) {
        callback();
        return;
      }
      // Opens later, as a disk would: what the script writes until then is buffered, and flushed in order.
      host.callLater(() => {
        try {
          descriptor = sync.open(path, flags, mode);
        } catch (error) {
          callback(error);
          return;
        }
        this.fd = descriptor;
        callback();
        this.emit('open', descriptor);
        this.emit('ready');
      });
    },
    destroy(error, callback) {
      const open = descriptor;
      descriptor = null;
      this.fd = null;
      if (open == null) {
        callback(error);
        return;
      }
      const done = (failed) => callback(error ?? failed ?? null);
      if (handle !== undefined) handle.close().then(() => done(), done);
      else if (descriptors.isOpen(open)) fs.close(open, done);
      else callback(error);
    },
  };
};

export const createReadStream = (path, options = {}) => {
  const given = typeof options === 'object' && options !== null ? options : {};
  const { start, end = Infinity, highWaterMark = 65536, emitClose, autoClose = true, signal } = given;
  checkPlace('start', start);
  checkPlace('end', end);
  if (start !== undefined && start > end) throw outOfRange('start', `<= "end" (here: ${end})`, start);
  const { construct, destroy, descriptor } = openAndClose(path === null ? null : checkedPath('path', path), { flags: 'r', ...given });
  let left = end - (start ?? 0) + 1;
  let at = start;
  const readable = new stream.Readable({
    highWaterMark,
    encoding: encodingOf(options) ?? undefined,
    emitClose,
    autoDestroy: autoClose,
    signal,
    construct,
    destroy,
    // Delivers a chunk later, as a disk would: otherwise everything that is requested at once would be one chunk.
    read(size) {
      host.callLater(() => {
        if (readable.destroyed) return;
        try {
          const buffer = Buffer.alloc(Math.min(size, left));
          const count = buffer.length === 0 ? 0 : sync.read(descriptor(), buffer, 0, buffer.length, at ?? null);
          if (at !== undefined) at += count;
          left -= count;
          readable.bytesRead += count;
          this.push(count === 0 ? null : buffer.subarray(0, count));
        } catch (error) {
          this.destroy(error);
        }
      });
    },
  });
  readable.close = (callback) => closeStream(readable, callback);
  return shownStream(Object.setPrototypeOf(readable, ReadStream.prototype), { path: path ?? undefined, fd: descriptor() ?? null, bytesRead: 0 });
};
// Adds the fields of file streams; `pending` is true until the file is open.
const shownStream = (opened, fields) =>
  Object.defineProperty(Object.assign(opened, fields), 'pending', { get: () => opened.fd === null, configurable: true });
const closeStream = (opened, callback) => {
  if (callback !== undefined) stream.finished(opened, () => callback());
  opened.destroy();
};

export const createWriteStream = (path, options = {}) => {
  const given = typeof options === 'object' && options !== null ? options : {};
  const { start, highWaterMark = 16384, emitClose, autoClose = true, signal } = given;
  checkPlace('start', start);
  const { construct, destroy, descriptor } = openAndClose(path === null ? null : checkedPath('path', path), { flags: 'w', ...given });
  let at = start;
  const put = (bytes, callback) => {
    try {
      const count = descriptors.writeBytes(descriptor(), bytes, at ?? null);
      if (at !== undefined) at += count;
      writable.bytesWritten += count;
    } catch (error) {
      callback(error);
      return;
    }
    callback();
  };
  const writable = new stream.Writable({
    highWaterMark,
    defaultEncoding: encodingOf(options) ?? 'utf8',
    emitClose,
    autoDestroy: autoClose,
    signal,
    construct,
    destroy,
    write: (chunk, encoding, callback) => put(chunk, callback),
    writev: (chunks, callback) => put(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback),
  });
  writable.close = (callback) => {
    if (callback !== undefined) stream.finished(writable, () => callback());
    writable.end();
  };
  return shownStream(Object.setPrototypeOf(writable, WriteStream.prototype), { path: path ?? undefined, fd: descriptor() ?? null, bytesWritten: 0 });
};

// Classes of the streams above, which a script may also call with `new`.
export function ReadStream(path, options) {
  return createReadStream(path, options);
}
export function WriteStream(path, options) {
  return createWriteStream(path, options);
}
for (const [Class, Base] of [[ReadStream, stream.Readable], [WriteStream, stream.Writable]]) {
  Object.setPrototypeOf(Class, Base);
  Object.setPrototypeOf(Class.prototype, Base.prototype);
}
