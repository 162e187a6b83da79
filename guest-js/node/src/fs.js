// `fs` with the interface of Node: the prelude's file functions, with Node's encodings, descriptors, callbacks,
// promises and streams.
import { allAbsent } from './absent.js';
import { Buffer } from './buffer.js';
import * as descriptors from './descriptors.js';
import { isDescriptor } from './descriptors.js';
import { constants } from './fs-constants.js';
import { Dir } from './fs-directories.js';
import { FileHandle, isChunks, linesOf } from './fs-handles.js';
import { createReadStream, createWriteStream, ReadStream, WriteStream } from './fs-streams.js';
import { pipeStats, Stats, statsOf } from './stats.js';
import { abortError, codedError, invalidType, invalidValue } from './util.js';
import url from './url.js';

const { fs: files, native, toPath } = host;
const { O_RDONLY } = descriptors;

export const encodingOf = (options) => {
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

// Throws if a directory would be copied into itself, which would not end.
const checkApart = (source, target) => {
  const [inner, outer] = [target, source].map((given) => host.absolutePath(toPath(given, 'cp')));
  if (!`${inner}/`.startsWith(outer === '/' ? '/' : `${outer}/`)) return;
  const told = inner === outer ? 'src and dest cannot be the same' : `cannot copy ${source} to a subdirectory of self ${target}`;
  const error = codedError(Error, 'ERR_FS_CP_EINVAL', `Invalid src or dest: cp returned EINVAL (${told}) ${target}`);
  throw Object.assign(error, { name: 'SystemError', errno: 22, syscall: 'cp', path: target });
};

export const sync = {
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
    return files.readdir(path, options);
  },
  mkdir(path, options) {
    const { recursive = false } = typeof options === 'object' && options !== null ? options : {};
    if (typeof recursive !== 'boolean') throw invalidType('options.recursive', 'boolean', recursive);
    let first;
    if (recursive) {
      for (let at = toPath(path, 'mkdir'); at.length > 1 && !sync.exists(at); at = at.slice(0, at.lastIndexOf('/')) || '/') first = at;
    }
    files.mkdir(path, { recursive, mode: descriptors.toMode(typeof options === 'object' ? options?.mode : options) });
    // As in Node, the answer is relative if the path is.
    const base = `${host.cwd()}/`;
    return first?.startsWith(base) && !String(path).startsWith('/') ? first.slice(base.length) : first;
  },
  mkdtemp(prefix) {
    const letters = Buffer.from(native.randomBytes(6)).toString('hex').slice(0, 6);
    try {
      files.mkdir(prefix + letters, { mode: 0o700 });
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
      checkApart(from, to);
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
  realpath(path) {
    try {
      return files.realpath(path);
    } catch (error) {
      // As Node, which looks at one name after the other.
      throw error?.code === 'ENOENT' ? host.fileError('ENOENT', 'lstat', host.absolutePath(toPath(path, 'realpath'))) : error;
    }
  },
  // As of a file system without a limit of its own.
  statfs(path, options) {
    statOf(path, undefined, 'statfs', true);
    const numbers = { type: 0x01021994, bsize: 4096, blocks: 2 ** 20, bfree: 2 ** 20, bavail: 2 ** 20, files: 2 ** 20, ffree: 2 ** 20 };
    const fields = Object.entries(numbers).map(([name, number]) => [name, options?.bigint ? BigInt(number) : number]);
    return Object.assign(new StatFs(), Object.fromEntries(fields));
  },
  chmod: (path, mode) => files.chmod(path, mode),
  chown() {},
  lchown() {},
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
class StatFs {}
export const promised = async (work) => work();
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
export const checkedPath = (argument, path) => {
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
export const withCallback = (name, work) =>
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
fs.watch = fs.watchFile = promises.watch = () => {
  throw codedError(Error, 'ENOSYS', 'files are not watched here: only this script changes them');
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

Object.assign(fs, { createReadStream, createWriteStream, ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream });
fs.openAsBlob = async (path, options) => new Blob([sync.readFile(path)], options);
// Files have no times of links.
const NO_LINK_TIMES = 'links have no times of their own. Use utimes, which sets the time of the file';
Object.assign(fs, allAbsent('fs', ['lutimes', 'lutimesSync'], NO_LINK_TIMES));
promises.lutimes = async () => fs.lutimes();
// Files are not watched, so that nothing has to be stopped.
fs.unwatchFile = () => {};

export { constants, promises, linesOf };
export default fs;
