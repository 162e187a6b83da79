// `fs` with the interface of Node: the prelude's file functions, with Node's encodings, descriptors, callbacks,
// promises and streams.
import { Buffer } from './buffer.js';
import * as descriptors from './descriptors.js';
import { isDescriptor } from './descriptors.js';
import EventEmitter from './events.js';
import { pipeStats, Stats, statsOf } from './stats.js';
import { abortError, codedError, invalidType, invalidValue, isObject, outOfRange, isWhole } from './util.js';
import stream from './stream.js';
import url from './url.js';

const { fs: files, native, toPath } = host;
const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = descriptors;

// Constants of Linux, without flags that have no effect on an open file here (`O_DIRECTORY`, `O_NOFOLLOW` and the
// like).
export const constants = {
  O_RDONLY,
  O_WRONLY,
  O_RDWR,
  S_IFMT: 0o170000,
  S_IFREG: 0o100000,
  S_IFDIR: 0o40000,
  S_IFCHR: 0o20000,
  S_IFBLK: 0o60000,
  S_IFIFO: 0o10000,
  S_IFLNK: 0o120000,
  S_IFSOCK: 0o140000,
  O_CREAT,
  O_EXCL,
  O_TRUNC,
  O_APPEND,
  S_IRWXU: 0o700,
  S_IRUSR: 0o400,
  S_IWUSR: 0o200,
  S_IXUSR: 0o100,
  S_IRWXG: 0o70,
  S_IRGRP: 0o40,
  S_IWGRP: 0o20,
  S_IXGRP: 0o10,
  S_IRWXO: 0o7,
  S_IROTH: 0o4,
  S_IWOTH: 0o2,
  S_IXOTH: 0o1,
  F_OK: 0,
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  COPYFILE_EXCL: 1,
};

const encodingOf = (options) => {
  const encoding = typeof options === 'string' ? options : options?.encoding;
  if (encoding == null || encoding === 'buffer') return null;
  if (!Buffer.isEncoding(encoding)) throw codedError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'encoding' is invalid encoding. Received '${encoding}'`);
  return encoding;
};
const contents = (data, options) => {
  if (typeof data === 'string') {
    const encoding = encodingOf(options);
    return encoding === null || /^utf-?8$/i.test(encoding) ? data : new Uint8Array(Buffer.from(data, encoding));
  }
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw invalidType('data', 'string or an instance of Buffer, TypedArray, or DataView', data);
};
const flagOf = (options, standard) => (typeof options === 'object' ? options?.flag : undefined) ?? standard;
const checkOptions = (options) => {
  if (options != null && !['string', 'object', 'function'].includes(typeof options)) throw invalidType('options', 'one of type string or object', options);
};

const withOpened = (path, flags, mode, work) => {
  const fd = descriptors.open(path, flags, mode);
  try {
    return work(fd);
  } finally {
    descriptors.close(fd);
  }
};

// Returns the descriptor of a handle; a descriptor or path is returned as it is.
const target = (path) => (path instanceof FileHandle ? path.fd : path);
const stdinPaths = ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'];
const readWhole = (path, options, encoding) => {
  if (path === 0 || stdinPaths.includes(path)) return host.readAllStdinNow();
  if (isDescriptor(path)) return descriptors.readRest(path, encoding === null ? 'fstat' : 'read');
  const bits = descriptors.toFlags(flagOf(options, 'r'));
  return bits === O_RDONLY ? files.readBytes(path) : withOpened(path, bits, undefined, (fd) => descriptors.readRest(fd));
};

const writeWhole = (path, data, options, standard) => {
  checkOptions(options);
  const given = contents(data, options);
  const bytes = () => (typeof given === 'string' ? native.encodeUtf8(given) : given);
  if (isDescriptor(path)) {
    descriptors.writeBytes(path, bytes());
    return;
  }
  const flags = flagOf(options, standard);
  const mode = descriptors.toMode(options?.mode);
  if (mode === undefined && (flags === 'w' || flags === 'wx')) files.writeFile(path, given, { flag: flags });
  else if (mode === undefined && flags === 'a') files.appendFile(path, given);
  else withOpened(path, flags, mode, (fd) => descriptors.writeBytes(fd, bytes()));
};

const sync = {
  readFile(path, options) {
    checkOptions(options);
    const encoding = encodingOf(options);
    const bytes = Buffer.from(readWhole(target(path), options, encoding).buffer);
    return encoding === null ? bytes : bytes.toString(encoding);
  },
  writeFile: (path, data, options) => writeWhole(target(path), data, options, 'w'),
  appendFile: (path, data, options) => writeWhole(target(path), data, options, 'a'),
  exists: (path) => {
    try {
      return files.exists(path);
    } catch {
      return false;
    }
  },
  stat(path, options) {
    return statOf(path, options, 'stat', true);
  },
  lstat(path, options) {
    return statOf(path, options, 'lstat', false);
  },
  fstat(fd, options) {
    if (fd === 0 || fd === 1 || fd === 2) return pipeStats(options);
    return statsOf(native.stat(descriptors.pathOf(fd, 'fstat'), true), options);
  },
  readdir(path, options) {
    const list = files.readdir(path, options);
    for (const entry of list) if (typeof entry === 'object') entry.path = entry.parentPath;
    return list;
  },
  mkdir(path, options) {
    const recursive = typeof options === 'object' && options?.recursive === true;
    let first;
    if (recursive) {
      for (let at = toPath(path, 'mkdir'); at.length > 1 && !sync.exists(at); at = at.slice(0, at.lastIndexOf('/')) || '/') first = at;
    }
    files.mkdir(path, { recursive });
    // As in Node, the answer is relative if the path is.
    const base = `${host.cwd()}/`;
    return first?.startsWith(base) && !String(path).startsWith('/') ? first.slice(base.length) : first;
  },
  mkdtemp(prefix) {
    const letters = Buffer.from(native.randomBytes(6)).toString('hex').slice(0, 6);
    try {
      files.mkdir(prefix + letters);
    } catch (error) {
      throw typeof error?.code === 'string' ? host.fileError(error.code, 'mkdtemp', `${prefix}XXXXXX`) : error;
    }
    return prefix + letters;
  },
  rm(path, options) {
    if (!options?.recursive && sync.stat(path, { throwIfNoEntry: false })?.isDirectory() && !files.lstat(path).isSymbolicLink()) {
      const message = `Path is a directory: rm returned EISDIR (is a directory) ${path}`;
      throw Object.assign(codedError(Error, 'ERR_FS_EISDIR', message), { name: 'SystemError', errno: 21, syscall: 'rm', path });
    }
    files.rm(path, options);
  },
  opendir: (path, options) => new Dir(path, options),
  rmdir: (path, options) => (options?.recursive ? files.rm(path, { recursive: true }) : files.rmdir(path)),
  unlink: (path) => files.unlink(path),
  rename: (from, to) => files.rename(from, to),
  copyFile(from, to, mode) {
    if (mode & constants.COPYFILE_EXCL && sync.exists(to)) throw host.fileError('EEXIST', 'copyfile', String(from), String(to));
    files.copyFile(from, to);
  },
  cp(from, to, options = {}) {
    const kind = files.lstat(from);
    if (kind.isDirectory()) {
      if (!options.recursive) {
        const error = codedError(Error, 'ERR_FS_EISDIR', `Path is a directory: cp returned EISDIR (${from} is a directory (not copied)) ${from}`);
        throw Object.assign(error, { name: 'SystemError', errno: 22, syscall: 'cp', path: from });
      }
      files.mkdir(to, { recursive: true });
      for (const name of files.readdir(from)) sync.cp(`${from}/${name}`, `${to}/${name}`, options);
    } else if (options.filter === undefined || options.filter(from, to)) {
      if (sync.exists(to) && options.force === false) {
        if (options.errorOnExist) throw codedError(Error, 'ERR_FS_CP_EEXIST', `Target already exists: ${to}`);
        return;
      }
      files.mkdir(toPath(to, 'cp').replace(/\/[^/]*$/, '') || '/', { recursive: true });
      if (kind.isSymbolicLink()) files.symlink(files.readlink(from), to);
      else files.copyFile(from, to);
    }
  },
  // Permission bits do not restrict reading and writing here.
  access(path, mode = constants.F_OK) {
    const stats = statOf(path, undefined, 'access', true);
    if (mode & constants.X_OK && stats.isFile() && !(stats.mode & 0o111)) throw host.fileError('EACCES', 'access', toPath(path, 'access'));
  },
  symlink: (target, path) => files.symlink(target, path),
  // As on a file system without hard links, a file has one name.
  link(from, to) {
    throw host.fileError('EPERM', 'link', toPath(from, 'existingPath'), toPath(to, 'newPath'));
  },
  readlink: (path) => files.readlink(path),
  realpath: (path) => files.realpath(path),
  chmod: (path, mode) => files.chmod(path, mode),
  chown() {},
  truncate(path, length) {
    if (isDescriptor(path)) descriptors.truncate(path, length);
    else withOpened(path, 'r+', undefined, (fd) => descriptors.truncate(fd, length));
  },
  utimes: (path, atime, mtime) => files.utimes(path, atime, mtime),
  open: descriptors.open,
  close: descriptors.close,
  ftruncate: descriptors.truncate,
  fchmod: (fd, mode) => files.chmod(descriptors.pathOf(fd, 'fchmod'), mode),
  fchown: (fd) => void descriptors.pathOf(fd, 'fchown'),
  futimes: (fd, atime, mtime) => files.utimes(descriptors.pathOf(fd, 'futime'), atime, mtime),
  fsync: (fd) => descriptors.sync(fd, 'fsync'),
  fdatasync: (fd) => descriptors.sync(fd, 'fdatasync'),
  read: descriptors.read,
  readv: descriptors.readv,
  write: descriptors.write,
  writev: descriptors.writev,
};
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
class Dir {
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
const promised = async (work) => work();
const statOf = (path, options, syscall, follow) => {
  const at = toPath(path, syscall);
  try {
    return statsOf(native.stat(at, follow), options);
  } catch (code) {
    if (options?.throwIfNoEntry === false && code === 'ENOENT') return undefined;
    throw typeof code === 'string' ? host.fileError(code, syscall, at) : code;
  }
};

// Functions whose first argument is a path, or for some a descriptor.
const takesDescriptor = new Set(['readFile', 'writeFile', 'appendFile', 'truncate']);
const takesNoPath = (name) => ['mkdtemp', 'exists', 'close', 'read', 'readv', 'write', 'writev'].includes(name) || /^f/.test(name);
const isPath = (path) => typeof path === 'string' || ArrayBuffer.isView(path) || path instanceof URL;
const checkedPath = (argument, path) => {
  if (!isPath(path)) throw invalidType(argument, 'string or an instance of Buffer or URL', path);
  const text = path instanceof URL ? url.fileURLToPath(path) : path;
  if (typeof text === 'string' && text.includes('\0')) throw invalidValue(argument, text, 'must be a string, Uint8Array, or URL without null bytes');
  return text;
};
const firstArgument = { __proto__: null, rename: 'oldPath', copyFile: 'src', cp: 'src', symlink: 'target', link: 'existingPath' };
for (const [name, work] of Object.entries(sync)) {
  if (takesNoPath(name)) continue;
  sync[name] = (path, ...rest) => {
    const isOpen = takesDescriptor.has(name) && (isDescriptor(path) || path instanceof FileHandle);
    return work(isOpen ? path : checkedPath(firstArgument[name] ?? 'path', path), ...rest);
  };
}

const { F_OK, R_OK, W_OK, X_OK } = constants;
const fs = { constants, F_OK, R_OK, W_OK, X_OK, Stats, Dirent: host.Dirent, Dir };

const twoArguments = new Set(['rename', 'copyFile', 'cp', 'symlink', 'link', 'writeFile', 'appendFile', 'chmod', 'utimes']);
// Removes the stack frames of a system error: in Node, such an error reaches a callback from outside of the script.
const withoutFrames = (error) => {
  if (error instanceof Error && typeof error.errno === 'number') {
    Object.defineProperty(error, 'stack', { value: `${error.name}: ${error.message}`, writable: true, configurable: true });
  }
  return error;
};
// Converts a synchronous function to one whose last argument is a callback, which is called later, also with an error.
const withCallback = (name, work) =>
  ({
    [name](...values) {
      // An argument in the position of a path or of data is not taken for the callback.
      const callback = values.length > (twoArguments.has(name) ? 2 : 1) || typeof values.at(-1) === 'function' ? values.pop() : undefined;
      if (typeof callback !== 'function') throw invalidType('cb', 'function', callback);
      let error = null;
      let result;
      try {
        result = work(...values);
      } catch (thrown) {
        error = withoutFrames(thrown);
      }
      host.callLater(() => (error === null ? (result === undefined ? callback(null) : callback(null, result)) : callback(error)));
    },
  })[name];

const promises = { constants };
for (const [name, work] of Object.entries(sync)) {
  fs[`${name}Sync`] = Object.defineProperty((...values) => work(...values), 'name', { value: `${name}Sync` });
  if (name !== 'exists') fs[name] = withCallback(name, work);
  if (!/^(exists|f[a-z]+|close|readv?|writev?|open)$/.test(name)) {
    promises[name] = Object.defineProperty(async (...values) => work(...values), 'name', { value: name });
  }
}
fs.exists = (path, callback) => {
  const found = sync.exists(path);
  host.callLater(() => callback(found));
};
fs.realpathSync.native = fs.realpathSync;
// These callbacks also get the buffer, which may be omitted for `read`.
fs.read = (fd, ...rest) => {
  const callback = rest.pop();
  const [first] = rest;
  const given = ArrayBuffer.isView(first) ? rest : [first?.buffer ?? Buffer.alloc(16384), ...(first == null ? [] : [first])];
  withCallback('read', () => sync.read(fd, ...given))((error, count) => callback(error, count, given[0]));
};
for (const name of ['write', 'readv', 'writev']) {
  fs[name] = (fd, data, ...rest) => {
    const callback = rest.pop();
    withCallback(name, () => sync[name](fd, data, ...rest))((error, count) => callback(error, count, data));
  };
}
fs.watch = fs.watchFile = () => {
  throw codedError(Error, 'ENOSYS', 'files are not watched here: only this script changes them');
};

const closedFile = (syscall) => Object.assign(codedError(Error, 'EBADF', 'file closed'), { syscall });

// Returns true for data that arrives in chunks: an iterable, or a stream.
const isChunks = (data) =>
  isObject(data) && !ArrayBuffer.isView(data) && (Symbol.asyncIterator in data || Symbol.iterator in data);

class FileHandle extends EventEmitter {
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
const linesOf = (text) => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};
promises.open = async (path, flags, mode) => new FileHandle(sync.open(path, flags, mode));
promises.writeFile = {
  async writeFile(path, data, options) {
    if (!isChunks(data) || path instanceof FileHandle) {
      return path instanceof FileHandle ? path.writeFile(data, options) : sync.writeFile(path, data, options);
    }
    const handle = await promises.open(path, options?.flag ?? 'w', options?.mode);
    try {
      await handle.writeFile(data, options);
    } finally {
      await handle.close();
    }
    return undefined;
  },
}.writeFile;
const { readFile } = promises;
promises.readFile = {
  async readFile(path, options) {
    if (!(path instanceof FileHandle)) checkedPath('path', path);
    if (options?.signal?.aborted) throw abortError(options.signal);
    return readFile(path, options);
  },
}.readFile;
fs.promises = promises;

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

fs.createReadStream = (path, options = {}) => {
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
  return shownStream(readable, { path: path ?? undefined, fd: descriptor() ?? null, bytesRead: 0 });
};
// Adds the fields of file streams; `pending` is true until the file is open.
const shownStream = (opened, fields) =>
  Object.defineProperty(Object.assign(opened, fields), 'pending', { get: () => opened.fd === null, configurable: true });
const closeStream = (opened, callback) => {
  if (callback !== undefined) stream.finished(opened, () => callback());
  opened.destroy();
};

fs.createWriteStream = (path, options = {}) => {
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
  return shownStream(writable, { path: path ?? undefined, fd: descriptor() ?? null, bytesWritten: 0 });
};

export { promises, linesOf };
export default fs;
