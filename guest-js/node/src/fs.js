// `fs`, as Node has it: what the prelude does with files, with Node's encodings, callbacks, promises and streams.
import { Buffer } from './buffer.js';
import { codedError, invalidType } from './util.js';
import stream from './stream.js';

const { fs: files, native, toPath } = host;

export const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024 };

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
const flagOf = (options, standard) => {
  const flag = typeof options === 'object' ? options?.flag ?? options?.flags : undefined;
  return { flag: flag === undefined ? standard : String(flag).replace(/s/g, '') };
};

// Open files: path, position, how.
const descriptors = new Map();
const opened = (fd) => {
  const file = descriptors.get(fd);
  if (file === undefined) throw codedError(Error, 'EBADF', `EBADF: bad file descriptor, fd ${fd}`);
  return file;
};
const where = (path) => (typeof path === 'number' ? opened(path).path : path);

const sync = {
  readFile(path, options) {
    if (path === 0) throw codedError(Error, 'EAGAIN', 'standard input is read with `await stdin.text()`, or `for await (const chunk of process.stdin)`');
    const encoding = encodingOf(options);
    const bytes = Buffer.from(files.readBytes(where(path)).buffer);
    return encoding === null ? bytes : bytes.toString(encoding);
  },
  writeFile(path, data, options) {
    const given = contents(data, options);
    if (path === 1 || path === 2) return native.outputBytes(typeof given === 'string' ? native.encodeUtf8(given) : given, path === 2);
    files.writeFile(where(path), given, flagOf(options, 'w'));
    if (options?.mode !== undefined) files.chmod(where(path), options.mode);
  },
  appendFile(path, data, options) {
    files.appendFile(where(path), contents(data, options), flagOf(options, 'a'));
  },
  exists: (path) => {
    try {
      return files.exists(path);
    } catch {
      return false;
    }
  },
  stat(path, options) {
    if (options?.throwIfNoEntry === false && !sync.exists(path)) return undefined;
    return bigStats(files.stat(path), options);
  },
  lstat(path, options) {
    try {
      return bigStats(files.lstat(path), options);
    } catch (error) {
      if (options?.throwIfNoEntry === false && error.code === 'ENOENT') return undefined;
      throw error;
    }
  },
  fstat: (fd) => files.stat(opened(fd).path),
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
    return first;
  },
  mkdtemp(prefix) {
    const letters = Buffer.from(native.randomBytes(6)).toString('hex').slice(0, 6);
    files.mkdir(prefix + letters);
    return prefix + letters;
  },
  rm: (path, options) => files.rm(path, options),
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
      if (!options.recursive) throw codedError(Error, 'ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${from}`);
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
  access: (path) => files.access(path),
  symlink: (target, path) => files.symlink(target, path),
  readlink: (path) => files.readlink(path),
  realpath: (path) => files.realpath(path),
  chmod: (path, mode) => files.chmod(path, mode),
  chown() {},
  truncate: (path, length) => files.truncate(where(path), length),
  ftruncate: (fd, length) => files.truncate(opened(fd).path, length),
  utimes: (path, atime, mtime) => files.utimes(path, atime, mtime),
  open(path, flags = 'r') {
    const at = toPath(path, 'open');
    const how = typeof flags === 'number' ? 'r' : String(flags).replace(/s/g, '');
    if (how.startsWith('w')) files.writeFile(at, '', { flag: how });
    else if (how.startsWith('a')) files.appendFile(at, '');
    else files.access(at);
    let fd = 3;
    while (descriptors.has(fd)) fd++;
    descriptors.set(fd, { path: at, position: 0, append: how.startsWith('a') });
    return fd;
  },
  close(fd) {
    opened(fd);
    descriptors.delete(fd);
  },
  fsync() {},
  fdatasync() {},
  read(fd, buffer, offset = 0, length = buffer.byteLength - offset, position = null) {
    if (typeof offset === 'object' && offset !== null) ({ offset = 0, length = buffer.byteLength - offset, position = null } = offset);
    const file = opened(fd);
    const from = position === null ? file.position : Number(position);
    const bytes = files.readBytes(file.path).subarray(from, from + length);
    new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(bytes, offset);
    if (position === null) file.position += bytes.length;
    return bytes.length;
  },
  write(fd, data, offset, length, position) {
    let bytes;
    if (typeof data === 'string') {
      bytes = new Uint8Array(Buffer.from(data, length));
      position = offset;
    } else {
      bytes = contents(data).subarray(offset ?? 0, (offset ?? 0) + (length ?? data.byteLength));
    }
    if (fd === 1 || fd === 2) {
      native.outputBytes(bytes, fd === 2);
      return bytes.length;
    }
    const file = opened(fd);
    if (file.append) {
      files.appendFile(file.path, bytes);
      return bytes.length;
    }
    const old = files.readBytes(file.path);
    const from = position == null ? file.position : Number(position);
    const all = new Uint8Array(Math.max(old.length, from + bytes.length));
    all.set(old);
    all.set(bytes, from);
    files.writeFile(file.path, all);
    if (position == null) file.position += bytes.length;
    return bytes.length;
  },
};
const bigStats = (stats) => stats;

// Functions whose first argument is a path, and for some a descriptor.
const takesDescriptor = new Set(['readFile', 'writeFile', 'appendFile', 'truncate']);
const takesNoPath = new Set(['fstat', 'mkdtemp', 'exists', 'ftruncate', 'close', 'fsync', 'fdatasync', 'read', 'write']);
const isPath = (path) => typeof path === 'string' || ArrayBuffer.isView(path) || path instanceof URL;
for (const [name, work] of Object.entries(sync)) {
  if (takesNoPath.has(name)) continue;
  sync[name] = (path, ...rest) => {
    if (!isPath(path) && !(takesDescriptor.has(name) && typeof path === 'number')) {
      throw invalidType(name === 'rename' ? 'oldPath' : name === 'copyFile' || name === 'cp' ? 'src' : name === 'symlink' ? 'target' : 'path', 'string or an instance of Buffer or URL', path);
    }
    return work(path, ...rest);
  };
}

const fs = { constants, ...constants, Stats: host.Stats, Dirent: host.Dirent };
for (const name of ['COPYFILE_EXCL', 'O_RDONLY', 'O_WRONLY', 'O_RDWR', 'O_CREAT', 'O_EXCL', 'O_TRUNC', 'O_APPEND']) delete fs[name];

// Its callback comes last; what it gives comes later, also if it is an error.
const withCallback = (name, work) =>
  ({
    [name](...values) {
      const callback = values.pop();
      if (typeof callback !== 'function') throw invalidType('cb', 'function', callback);
      let error = null;
      let result;
      try {
        result = work(...values);
      } catch (thrown) {
        error = thrown;
      }
      host.callLater(() => (error === null ? (result === undefined ? callback(null) : callback(null, result)) : callback(error)));
    },
  })[name];

const promises = { constants };
for (const [name, work] of Object.entries(sync)) {
  fs[`${name}Sync`] = Object.defineProperty((...values) => work(...values), 'name', { value: `${name}Sync` });
  if (name !== 'exists') fs[name] = withCallback(name, work);
  if (!/^(exists|f[a-z]+|close|read|write|open)$/.test(name)) {
    promises[name] = Object.defineProperty(async (...values) => work(...values), 'name', { value: name });
  }
}
fs.exists = (path, callback) => {
  const found = sync.exists(path);
  host.callLater(() => callback(found));
};
fs.realpathSync.native = fs.realpathSync;
fs.read = (fd, buffer, ...rest) => {
  const callback = rest.pop();
  withCallback('read', () => sync.read(fd, buffer, ...rest))((error, count) => callback(error, count, buffer));
};
fs.write = (fd, data, ...rest) => {
  const callback = rest.pop();
  withCallback('write', () => sync.write(fd, data, ...rest))((error, count) => callback(error, count, data));
};
fs.watch = fs.watchFile = () => {
  throw codedError(Error, 'ENOSYS', 'files are not watched here: only this script changes them');
};

class FileHandle {
  constructor(fd) {
    this.fd = fd;
  }
  readFile = async (options) => sync.readFile(this.fd, options);
  writeFile = async (data, options) => sync.writeFile(this.fd, data, options);
  appendFile = async (data, options) => sync.appendFile(this.fd, data, options);
  stat = async () => sync.fstat(this.fd);
  truncate = async (length) => sync.ftruncate(this.fd, length);
  sync = async () => {};
  datasync = async () => {};
  async read(buffer = Buffer.alloc(16384), ...rest) {
    return { bytesRead: sync.read(this.fd, buffer, ...rest), buffer };
  }
  async write(buffer, ...rest) {
    return { bytesWritten: sync.write(this.fd, buffer, ...rest), buffer };
  }
  async close() {
    sync.close(this.fd);
  }
  async *readLines() {
    for (const line of linesOf(sync.readFile(this.fd, 'utf8'))) yield line;
  }
  createReadStream(options) {
    return fs.createReadStream(opened(this.fd).path, options);
  }
  createWriteStream(options) {
    return fs.createWriteStream(opened(this.fd).path, options);
  }
}
const linesOf = (text) => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};
promises.open = async (path, flags) => new FileHandle(sync.open(path, flags));
fs.promises = promises;

fs.createReadStream = (path, options = {}) => {
  const { start = 0, end = Infinity, highWaterMark = 65536 } = typeof options === 'object' ? options : {};
  let bytes;
  let at = start;
  const readable = new stream.Readable({
    highWaterMark,
    encoding: encodingOf(options) ?? undefined,
    read() {
      try {
        bytes ??= files.readBytes(path);
      } catch (error) {
        this.destroy(error);
        return;
      }
      const to = Math.min(at + highWaterMark, end + 1, bytes.length);
      const chunk = bytes.slice(at, to);
      at = to;
      readable.bytesRead += chunk.length;
      this.push(chunk.length === 0 ? null : Buffer.from(chunk.buffer));
    },
  });
  return Object.assign(readable, { path, bytesRead: 0 });
};

fs.createWriteStream = (path, options = {}) => {
  const { flags = 'w' } = typeof options === 'object' ? options : {};
  const writable = new stream.Writable({
    construct(callback) {
      try {
        if (flags.startsWith('a')) files.appendFile(path, '');
        else files.writeFile(path, '', { flag: flags });
        callback();
      } catch (error) {
        callback(error);
      }
    },
    write(chunk, encoding, callback) {
      try {
        files.appendFile(path, contents(chunk));
        writable.bytesWritten += chunk.length;
        callback();
      } catch (error) {
        callback(error);
      }
    },
  });
  writable.close = (callback) => writable.end(callback);
  return Object.assign(writable, { path, bytesWritten: 0 });
};

export { promises, linesOf };
export default fs;
