// `FileHandle`: what `open` of `fs/promises` gives.
import { Buffer } from './buffer.js';
import EventEmitter from './events.js';
import fs, { sync } from './fs.js';
import { codedError, isObject } from './util.js';

const closedFile = (syscall) => Object.assign(codedError(Error, 'EBADF', 'file closed'), { syscall });

// Returns true for data that arrives in chunks: an iterable, or a stream.
export const isChunks = (data) =>
  isObject(data) && !ArrayBuffer.isView(data) && (Symbol.asyncIterator in data || Symbol.iterator in data);

export class FileHandle extends EventEmitter {
  #fd;
  constructor(fd) {
    super();
    this.#fd = fd;
  }
  get fd() {
    return this.#fd;
  }
  // Returns the descriptor, for a system call.
  #open(syscall) {
    if (this.#fd < 0) throw closedFile(syscall);
    return this.#fd;
  }
  async readFile(options) {
    return sync.readFile(this.#open('readFile'), options);
  }
  async writeFile(data, options) {
    const fd = this.#open('writeFile');
    if (!isChunks(data)) return sync.writeFile(fd, data, options);
    for await (const chunk of data) sync.writeFile(this.#open('writeFile'), chunk, options);
    return undefined;
  }
  async appendFile(data, options) {
    sync.appendFile(this.#open('appendFile'), data, options);
  }
  async stat(options) {
    return sync.fstat(this.#open('fstat'), options);
  }
  async chmod(mode) {
    sync.fchmod(this.#open('fchmod'), mode);
  }
  async chown() {
    sync.fchown(this.#open('fchown'));
  }
  async utimes(atime, mtime) {
    sync.futimes(this.#open('futimes'), atime, mtime);
  }
  async truncate(length) {
    sync.ftruncate(this.#open('ftruncate'), length);
  }
  async sync() {
    sync.fsync(this.#open('fsync'));
  }
  async datasync() {
    sync.fdatasync(this.#open('fdatasync'));
  }
  async read(first, ...rest) {
    const fd = this.#open('read');
    if (ArrayBuffer.isView(first)) return { __proto__: null, bytesRead: sync.read(fd, first, ...rest), buffer: first };
    const buffer = first?.buffer ?? Buffer.alloc(16384);
    return { __proto__: null, bytesRead: sync.read(fd, buffer, first ?? undefined), buffer };
  }
  async readv(buffers, position) {
    return { __proto__: null, bytesRead: sync.readv(this.#open('readv'), buffers, position), buffers };
  }
  async write(buffer, ...rest) {
    return { __proto__: null, bytesWritten: sync.write(this.#open('write'), buffer, ...rest), buffer };
  }
  async writev(buffers, position) {
    return { __proto__: null, bytesWritten: sync.writev(this.#open('writev'), buffers, position), buffers };
  }
  async close() {
    if (this.#fd < 0) return;
    const fd = this.#fd;
    this.#fd = -1;
    sync.close(fd);
    this.emit('close');
  }
  async *readLines(options) {
    for (const line of linesOf(String(await this.readFile({ encoding: 'utf8', ...options })))) yield line;
  }
  createReadStream(options) {
    return fs.createReadStream(null, { ...options, fd: this });
  }
  createWriteStream(options) {
    return fs.createWriteStream(null, { ...options, fd: this });
  }
}
export const linesOf = (text) => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};
