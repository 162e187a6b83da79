// File descriptors, which `fs.openSync`, `FileHandle` and file streams share. A descriptor is a path with a position
// and an access mode, since the session's files are identified by path alone.
import { Buffer } from './buffer.js';
import { codedError, invalidType, invalidValue, outOfRange, isWhole } from './util.js';

const { fs: files, native, toPath } = host;

export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_RDWR = 2;
export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_TRUNC = 0o1000;
export const O_APPEND = 0o2000;
const ACCESS_MODE = 3;

const REPLACE = O_CREAT | O_TRUNC;
const EXTEND = O_CREAT | O_APPEND;
const flagWords = new Map();
const name = (bits, ...words) => words.forEach((word) => flagWords.set(word, bits));
name(O_RDONLY, 'r', 'rs', 'sr');
name(O_RDWR, 'r+', 'rs+', 'sr+');
name(O_WRONLY | REPLACE, 'w');
name(O_WRONLY | REPLACE | O_EXCL, 'wx', 'xw');
name(O_RDWR | REPLACE, 'w+');
name(O_RDWR | REPLACE | O_EXCL, 'wx+', 'xw+');
name(O_WRONLY | EXTEND, 'a', 'as', 'sa');
name(O_WRONLY | EXTEND | O_EXCL, 'ax', 'xa');
name(O_RDWR | EXTEND, 'a+', 'as+', 'sa+');
name(O_RDWR | EXTEND | O_EXCL, 'ax+', 'xa+');

const LARGEST = Number.MAX_SAFE_INTEGER;

const checkInteger = (value, name, least = -LARGEST, most = LARGEST) => {
  if (typeof value !== 'number') throw invalidType(name, 'number', value);
  if (!isWhole(value)) throw outOfRange(name, 'an integer', value);
  if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value);
};

/** Returns the `O_…` bits for a flags argument. */
export const toFlags = (flags) => {
  if (flags == null) return O_RDONLY;
  if (typeof flags === 'number') {
    checkInteger(flags, 'flags', -0x80000000, 0x7fffffff);
    return flags;
  }
  const bits = flagWords.get(flags);
  if (bits === undefined) throw invalidValue('flags', flags);
  return bits;
};

export const isDescriptor = (value) => typeof value === 'number' && isWhole(value) && value >= -0x80000000 && value <= 0x7fffffff;

const descriptors = new Map();

export const isOpen = (fd) => descriptors.has(fd);

const checkDescriptor = (fd) => {
  checkInteger(fd, 'fd', 0, 0x7fffffff);
  return fd;
};

/** Returns the open file of a descriptor, or throws EBADF for a system call. */
const opened = (fd, syscall) => {
  const file = descriptors.get(fd);
  if (file === undefined) throw host.systemError('EBADF', syscall);
  return file;
};

// Returns the state of an open file. A descriptor whose path now leads to another file, or to none, cannot be followed
// as POSIX requires, and is an error.
const stateOf = (file, syscall) => {
  const state = statOrNone(file.path);
  if (state === undefined || state.id !== file.id) {
    throw codedError(Error, 'ESTALE', `ESTALE: '${file.path}' was removed or renamed while it was open, ${syscall}: close it first`);
  }
  return state;
};

const statOrNone = (path) => {
  try {
    return native.stat(path, true);
  } catch (code) {
    if (code === 'ENOENT') return undefined;
    throw code;
  }
};

const prepare = (path, bits, mode) => {
  const writable = (bits & ACCESS_MODE) !== O_RDONLY;
  const found = statOrNone(path);
  if (found === undefined) {
    if (!(bits & O_CREAT)) throw 'ENOENT';
    files.writeFile(path, '', { flag: bits & O_EXCL ? 'wx' : 'a' });
    if (mode !== undefined) files.chmod(path, mode & 0o7777 & ~host.fileMask());
    return native.stat(path, true);
  }
  if (bits & O_CREAT && bits & O_EXCL) throw 'EEXIST';
  if (found.kind === 'directory' && (writable || bits & (O_CREAT | O_TRUNC))) throw 'EISDIR';
  if (bits & O_TRUNC) files.truncate(path, 0);
  else if (writable) files.appendFile(path, '');
  return found;
};

export const open = (path, flags = 'r', mode = undefined) => {
  const at = toPath(path, 'open');
  const bits = toFlags(flags);
  let found;
  try {
    found = prepare(at, bits, toMode(mode));
  } catch (error) {
    const code = typeof error === 'string' ? error : error.code;
    throw code in host.errnos ? host.fileError(code, 'open', path instanceof URL ? at : String(path)) : error;
  }
  let fd = 3;
  while (descriptors.has(fd)) fd++;
  const access = bits & ACCESS_MODE;
  descriptors.set(fd, {
    path: at,
    id: found.id,
    directory: found.kind === 'directory',
    position: 0,
    readable: access !== O_WRONLY,
    writable: access !== O_RDONLY,
    append: (bits & O_APPEND) !== 0,
  });
  return fd;
};

/** Returns permission bits from a number or octal digits; undefined if there is no mode. */
export const toMode = (mode) => {
  if (mode == null) return undefined;
  if (typeof mode === 'string') {
    if (!/^[0-7]+$/.test(mode)) throw invalidValue('mode', mode, 'must be a 32-bit unsigned integer or an octal string');
    return Number.parseInt(mode, 8);
  }
  checkInteger(mode, 'mode', 0, 0xffffffff);
  return mode;
};

export const close = (fd) => {
  opened(checkDescriptor(fd), 'close');
  descriptors.delete(fd);
};

/** Returns the path of an open file, for a call that inspects or changes its entry. */
export const pathOf = (fd, syscall) => {
  const file = opened(checkDescriptor(fd), syscall);
  stateOf(file, syscall);
  return file.path;
};

export const sync = (fd, syscall) => void opened(checkDescriptor(fd), syscall);

const readAt = (file, from, length) => {
  if (file.directory) throw host.systemError('EISDIR', 'read');
  stateOf(file, 'read');
  return native.readPart(file.path, from, length);
};

/** Returns the bytes from the position of an open file to its end. */
export const readRest = (fd, syscall) => {
  const file = opened(syscall === 'fstat' ? checkDescriptor(fd) : fd, syscall);
  if (!file.readable) throw host.systemError('EBADF', 'read');
  const bytes = readAt(file, file.position, LARGEST);
  file.position += bytes.length;
  return bytes;
};

const checkView = (buffer) => {
  if (!ArrayBuffer.isView(buffer)) throw invalidType('buffer', 'an instance of Buffer, TypedArray, or DataView', buffer);
};
const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

const toPosition = (position, length) => {
  if (position == null) return -1;
  if (typeof position === 'number') checkInteger(position, 'position', -1);
  else if (typeof position !== 'bigint') throw invalidType('position', 'bigint or integer', position);
  else if (position < -1n || position > 2n ** 63n - 1n - BigInt(length)) throw outOfRange('position', `>= -1 && <= ${2n ** 63n - 1n - BigInt(length)}`, position);
  return Number(position);
};

// Standard input is a pipe, which has no positions.
const readInput = (into, at) => {
  if (at >= 0) throw host.systemError('ESPIPE', 'read');
  const bytes = host.readStdinNow(into.length);
  into.set(bytes);
  return bytes.length;
};

/** Reads into a buffer at a position, or at the current position of the file, which then advances. Returns the number of
 * bytes read. */
export const read = (fd, buffer, ...rest) => {
  checkDescriptor(fd);
  checkView(buffer);
  let [offset, length, position] = rest;
  if (rest.length <= 1 || (offset !== null && typeof offset === 'object')) {
    if (offset !== undefined && typeof offset !== 'object') throw invalidType('options', 'object', offset);
    ({ offset = 0, length = buffer.byteLength - offset, position = null } = offset ?? {});
  }
  if (offset === undefined) offset = 0;
  else checkInteger(offset, 'offset', 0);
  length |= 0;
  if (length === 0) return 0;
  if (buffer.byteLength === 0) throw invalidValue('buffer', buffer, 'is empty and cannot be written');
  if (length < 0) throw outOfRange('length', '>= 0', length);
  if (length > buffer.byteLength - offset) throw outOfRange('length', `<= ${buffer.byteLength - offset}`, length);
  const at = toPosition(position, length);
  if (fd === 0) return readInput(bytesOf(buffer).subarray(offset, offset + length), at);
  const file = opened(fd, 'read');
  if (!file.readable) throw host.systemError('EBADF', 'read');
  const bytes = readAt(file, at < 0 ? file.position : at, length);
  bytesOf(buffer).set(bytes, offset);
  if (at < 0) file.position += bytes.length;
  return bytes.length;
};

// Overwrites a part of a file. Data beyond its end is appended.
const writeAt = (path, from, bytes, size) => {
  if (from < size) {
    const old = native.readPart(path, 0, LARGEST);
    const all = new Uint8Array(Math.max(old.length, from + bytes.length));
    all.set(old);
    all.set(bytes, from);
    files.writeFile(path, all);
    return;
  }
  if (from > size) files.truncate(path, from);
  files.appendFile(path, bytes);
};

/** Writes bytes at a position, or at the current position of the file, which then advances. */
export const writeBytes = (fd, bytes, position = null) => {
  if (fd === 1 || fd === 2) {
    native.outputBytes(bytes, fd === 2);
    return bytes.length;
  }
  const file = opened(fd, 'write');
  if (!file.writable) throw host.systemError('EBADF', 'write');
  const { size } = stateOf(file, 'write');
  const fixed = (typeof position === 'number' || typeof position === 'bigint') && position >= 0;
  const from = file.append ? size : fixed ? Number(position) : file.position;
  if (bytes.length > 0) writeAt(file.path, from, bytes, size);
  if (!fixed) file.position = from + bytes.length;
  return bytes.length;
};

export const write = (fd, data, ...rest) => {
  checkDescriptor(fd);
  if (ArrayBuffer.isView(data)) {
    let [offset, length, position] = rest;
    if (typeof offset === 'object') ({ offset = 0, length = data.byteLength - offset, position = null } = offset ?? {});
    if (offset == null) offset = 0;
    else checkInteger(offset, 'offset', 0);
    if (typeof length !== 'number') length = data.byteLength - offset;
    if (offset > data.byteLength) throw outOfRange('offset', `<= ${data.byteLength}`, offset);
    if (length > data.byteLength - offset) throw outOfRange('length', `<= ${data.byteLength - offset}`, length);
    checkInteger(length, 'length', 0, 0x7fffffff);
    return writeBytes(fd, bytesOf(data).subarray(offset, offset + length), position);
  }
  if (typeof data !== 'string') throw invalidType('buffer', 'string or an instance of Buffer, TypedArray, or DataView', data);
  const [position, encoding] = rest;
  return writeBytes(fd, bytesOf(Buffer.from(data, encoding ?? 'utf8')), position);
};

// Fills one buffer after the other, until one is not filled completely.
export const readv = (fd, buffers, position = null) => {
  checkViews(fd, buffers);
  let total = 0;
  for (const buffer of buffers) {
    const count = read(fd, buffer, 0, buffer.byteLength, typeof position === 'number' ? position + total : null);
    total += count;
    if (count < buffer.byteLength) break;
  }
  return total;
};

export const writev = (fd, buffers, position = null) => {
  checkViews(fd, buffers);
  return writeBytes(fd, bytesOf(Buffer.concat(buffers.map(bytesOf))), position);
};

const checkViews = (fd, buffers) => {
  checkDescriptor(fd);
  if (!Array.isArray(buffers) || !buffers.every(ArrayBuffer.isView)) throw invalidType('buffers', 'an ArrayBufferView[]', buffers);
};

export const truncate = (fd, length = 0) => {
  checkDescriptor(fd);
  checkInteger(length, 'len');
  const file = opened(fd, 'ftruncate');
  if (!file.writable) throw host.systemError('EINVAL', 'ftruncate');
  stateOf(file, 'ftruncate');
  files.truncate(file.path, Math.max(0, length));
};
