// `Dir`: what `opendir` returns.
import { encodingOf, promised, sync, withCallback } from './fs.js';
import { codedError, invalidType, isWhole, outOfRange } from './util.js';

const { toPath } = host;

const entriesOf = (path, options) => {
  encodingOf(options);
  const { bufferSize = 1, recursive } = typeof options === 'object' && options !== null ? options : {};
  if (!(isWhole(bufferSize) && bufferSize >= 1 && bufferSize < 2 ** 32)) {
    throw outOfRange('options.bufferSize', '>= 1 && <= 4294967295', bufferSize);
  }
  try {
    return sync.readdir(path, { withFileTypes: true, recursive });
  } catch (error) {
    throw error?.syscall === 'scandir' ? host.fileError(error.code, 'opendir', toPath(path, 'opendir')) : error;
  }
};
// Directory that is read entry by entry.
export class Dir {
  #left;
  #isClosed = false;
  constructor(path, options) {
    if (path === undefined) throw codedError(TypeError, 'ERR_MISSING_ARGS', 'The "handle" argument must be specified');
    this.#left = entriesOf(path, options);
    this.path = path;
  }
  #open() {
    if (this.#isClosed) throw codedError(Error, 'ERR_DIR_CLOSED', 'Directory handle was closed');
  }
  readSync() {
    this.#open();
    return this.#left.shift() ?? null;
  }
  closeSync() {
    this.#open();
    this.#isClosed = true;
  }
  // Without a callback, returns a promise.
  read(callback) {
    if (callback === undefined) return promised(() => this.readSync());
    this.#open();
    if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
    const entry = this.readSync();
    host.callLater(() => callback(null, entry));
  }
  close(callback) {
    if (callback === undefined) return promised(() => this.closeSync());
    if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
    withCallback('close', () => this.closeSync())(callback);
  }
  async *entries() {
    try {
      for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry;
    } finally {
      this.closeSync();
    }
  }
}
Object.defineProperty(Dir.prototype, Symbol.asyncIterator, { value: Dir.prototype.entries, writable: true, configurable: true });
