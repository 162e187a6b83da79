// `fs`: the session's files. They belong to the session itself, so nothing has to wait: each function works at once,
// and then returns a promise or, if its name ends with `Sync`, the result. (`require('fs')` is Node's module, which
// uses this.)

let startDirectory = '/workspace';

const explanations = {
  __proto__: null,
  EACCES: 'permission denied',
  EEXIST: 'file already exists',
  EFBIG: 'file too large',
  EINVAL: 'invalid argument',
  EISDIR: 'illegal operation on a directory',
  ELOOP: 'too many symbolic links encountered',
  ENAMETOOLONG: 'name too long',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EDQUOT: 'disk quota exceeded',
  EBADF: 'bad file descriptor',
  EBUSY: 'resource busy or locked',
  EPERM: 'operation not permitted',
  EIO: 'i/o error',
  ESPIPE: 'invalid seek',
};

const errnos = {
  __proto__: null,
  EPERM: -1,
  ENOENT: -2,
  EIO: -5,
  EBADF: -9,
  EACCES: -13,
  EBUSY: -16,
  EEXIST: -17,
  ENOTDIR: -20,
  EISDIR: -21,
  EINVAL: -22,
  EFBIG: -27,
  ESPIPE: -29,
  ENAMETOOLONG: -36,
  ENOTEMPTY: -39,
  ELOOP: -40,
  EDQUOT: -122,
};

// The last two paths that a script gave, absolute and as it wrote them; errors name the latter.
let givenPaths = [];
const asGiven = (path) => {
  for (let i = 0; i < givenPaths.length; i++) if (givenPaths[i][0] === path) return givenPaths[i][1];
  return path;
};

const fileError = (code, syscall, at, to) => {
  const path = asGiven(at);
  const dest = to === undefined ? undefined : asGiven(to);
  const where = dest === undefined ? "'" + path + "'" : "'" + path + "' -> '" + dest + "'";
  const error = new Error(code + ': ' + explanations[code] + ', ' + syscall + ' ' + where);
  error.errno = errnos[code];
  error.code = code;
  error.syscall = syscall;
  error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
};

const systemError = (code, syscall) => {
  const error = new Error(code + ': ' + explanations[code] + ', ' + syscall);
  error.errno = errnos[code];
  error.code = code;
  error.syscall = syscall;
  return error;
};

// Performs one file operation, and converts a refusal to Node's error.
const attempt = (syscall, path, work, dest) => {
  try {
    return work();
  } catch (code) {
    throw typeof code === 'string' ? fileError(code, syscall, path, dest) : code;
  }
};

// Reads a file. A directory can be opened, but not read.
const attemptRead = (path, work) =>
  attempt('open', path, () => {
    try {
      return work();
    } catch (code) {
      throw code === 'EISDIR' ? systemError(code, 'read') : code;
    }
  });

// Names of system calls, where they differ from the functions that make them.
const systemCalls = {
  __proto__: null,
  readFile: 'open',
  readBytes: 'open',
  readText: 'open',
  writeFile: 'open',
  appendFile: 'open',
  readdir: 'scandir',
  copyFile: 'copyfile',
  utimes: 'utime',
};

// Returns an absolute path. The host resolves `.` and `..`, because the directory before them may be a link.
const toPath = (path, name) => {
  let text = path;
  if (isObject(path)) {
    const bytes = asBytes(path);
    if (bytes !== undefined) text = native.decodeUtf8Lossy(bytes);
    else if (typeof path.pathname === 'string') text = decodePath(path.pathname);
  }
  if (typeof text !== 'string') {
    throw new TypeError('fs.' + name + ' takes a path as a string, got ' + kindOf(path));
  }
  if (text === '') throw fileError('ENOENT', systemCalls[name] ?? name, '');
  if (includes(text, '\0')) throw new TypeError('fs.' + name + ': a path has no zero characters');
  const at = startsWith(text, '/') ? text : (startDirectory === '/' ? '' : startDirectory) + '/' + text;
  givenPaths = [[at, text], givenPaths[0] ?? [at, text]];
  return at;
};

// Decodes the path of a `file:` URL.
const decodePath = (path) => (includes(path, '%') ? globalDecode(path) : path);
const globalDecode = globalThis.decodeURIComponent;

const encodings = {
  __proto__: null,
  utf8: 'utf8',
  'utf-8': 'utf8',
  latin1: 'latin1',
  binary: 'latin1',
  ascii: 'latin1',
  base64: 'base64',
  hex: 'hex',
};

// Returns the encoding that options name: undefined if there is none, null for bytes.
const encodingOf = (options, name) => {
  const given = isObject(options) ? options.encoding : options;
  if (given === undefined) return undefined;
  if (given === null || given === 'bytes' || given === 'buffer') return null;
  const known = typeof given === 'string' ? encodings[toLowerCase(given)] : undefined;
  if (known !== undefined) return known;
  const shown = typeof given === 'string' ? "'" + given + "'" : kindOf(given);
  throw new TypeError(
    'fs.' + name + ': the encoding is one of utf8, latin1, base64, hex, or null for bytes; got ' + shown,
  );
};

const decodeBytes = (bytes, encoding) =>
  encoding === 'base64' ? native.encodeBase64(bytes) : encoding === 'hex' ? toHex(bytes) : toLatin1(bytes);

// Returns the data to write: a string, or bytes.
const toContents = (data, options, name) => {
  if (typeof data === 'string') {
    const encoding = encodingOf(options, name);
    return encoding === undefined || encoding === null || encoding === 'utf8'
      ? data
      : encodeText(data, encoding, name);
  }
  const bytes = asBytes(data);
  if (bytes !== undefined) return bytes;
  const hint = isObject(data)
    ? ' (JSON.stringify makes text of it)'
    : data === undefined
      ? ''
      : ' (String makes text of it)';
  throw new TypeError(
    'fs.' + name + ' takes a string, a Uint8Array or an ArrayBuffer to write, got ' + kindOf(data) + hint,
  );
};

const encodeText = (text, encoding, name) => {
  const bytes =
    encoding === 'base64' ? native.decodeBase64(text) : encoding === 'hex' ? fromHex(text) : fromLatin1(text);
  if (bytes == null) throw new TypeError('fs.' + name + ': the text to write is not ' + encoding);
  return bytes;
};

const writeModes = {
  __proto__: null,
  w: 'replace',
  a: 'append',
  wx: 'create',
  'w+': 'replace',
  'a+': 'append',
  'wx+': 'create',
};

// Permissions that new files and directories go without. The host gives them those of the mask 022.
const hostMask = 0o022;
let fileMask = hostMask;
// Calls `create`, and gives the files that it makes the permissions `mode` without those of the mask. `usual` is what
// files of this kind have without a mode.
const createWith = (paths, usual, mode, create) => {
  const wanted = (mode ?? usual) & 0o7777 & ~fileMask;
  const made = [];
  if (wanted !== (usual & ~hostMask)) for (let i = 0; i < paths.length; i++) if (kindAt(paths[i]) === undefined) push(made, paths[i]);
  create();
  for (let i = 0; i < made.length; i++) native.setMode(made[i], wanted);
};
// Returns the directories that `mkdir` with `recursive` makes for a path.
const parentsOf = (path) => {
  const paths = [];
  for (let at = path; at !== '/'; at = directoryOf(at)) push(paths, at);
  return paths;
};

const writeContents = (path, data, options, name, standard) => {
  const at = toPath(path, name);
  const contents = toContents(data, options, name);
  const flag = isObject(options) && options.flag !== undefined ? options.flag : standard;
  const mode = writeModes[flag];
  if (mode === undefined) throw new TypeError('fs.' + name + ': the flag is one of w, wx, a; got ' + inspect(flag));
  attempt('open', at, () =>
    createWith([at], 0o666, undefined, () => (typeof contents === 'string' ? native.writeText : native.writeBytes)(at, contents, mode)),
  );
};

const fileTypes = { __proto__: null, file: 0o100000, directory: 0o040000, link: 0o120000 };

class Stats {
  #kind;
  constructor(record) {
    this.#kind = record.kind;
    this.size = record.size;
    this.mode = fileTypes[record.kind] | record.mode;
    this.mtimeMs = record.modified;
    this.mtime = new Date(record.modified);
    this.ino = record.id;
  }
  isFile() {
    return this.#kind === 'file';
  }
  isDirectory() {
    return this.#kind === 'directory';
  }
  isSymbolicLink() {
    return this.#kind === 'link';
  }
  isFIFO() {
    return false;
  }
  isSocket() {
    return false;
  }
  isBlockDevice() {
    return false;
  }
  isCharacterDevice() {
    return false;
  }
}

const direntTypes = { __proto__: null, file: 1, directory: 2, link: 3 };
const direntType = Symbol('type');

class Dirent {
  #kind;
  constructor(name, parentPath, kind) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    this[direntType] = direntTypes[kind];
    this.#kind = kind;
  }
  isFile() {
    return this.#kind === 'file';
  }
  isDirectory() {
    return this.#kind === 'directory';
  }
  isSymbolicLink() {
    return this.#kind === 'link';
  }
}

const exists = (path) => {
  try {
    native.stat(path, true);
    return true;
  } catch {
    return false;
  }
};

// Lists a directory, with the entries below it if `recursive`. Returns relative paths and kinds, alternating.
const listDirectory = (at, recursive) => {
  const found = [];
  const visit = (directory, prefix) => {
    const entries = attempt('scandir', directory, () => native.readDirectory(directory));
    for (let i = 0; i < entries.length; i += 2) {
      push(found, prefix + entries[i]);
      push(found, entries[i + 1]);
      if (recursive && entries[i + 1] === 'directory')
        visit(directory + '/' + entries[i], '' + prefix + entries[i] + '/');
    }
  };
  visit(at, '');
  return found;
};

const toMillis = (time) => (native.className(time) === 'Date' ? dateValue(time) : Number(time) * 1000);

const fsSync = {
  readFile(path, options) {
    const at = toPath(path, 'readFile');
    const encoding = encodingOf(options, 'readFile');
    if (encoding !== undefined && encoding !== 'utf8') {
      const bytes = attemptRead(at, () => native.readBytes(at));
      return encoding === null ? bytes : decodeBytes(bytes, encoding);
    }
    const text = attemptRead(at, () => native.readText(at));
    if (text == null) {
      const error = new Error(
        "the file is not UTF-8, open '" +
          at +
          "': read bytes with fs.readBytes(path) or fs.readFile(path, {encoding: null})",
      );
      error.code = 'EILSEQ';
      error.path = at;
      throw error;
    }
    return text;
  },
  readBytes(path) {
    const at = toPath(path, 'readBytes');
    return attemptRead(at, () => native.readBytes(at));
  },
  readText(path) {
    return fsSync.readFile(path, 'utf8');
  },
  readJson(path) {
    return parseJson(fsSync.readFile(path, 'utf8'));
  },
  writeFile(path, data, options) {
    writeContents(path, data, options, 'writeFile', 'w');
  },
  appendFile(path, data, options) {
    writeContents(path, data, options, 'appendFile', 'a');
  },
  readdir(path, options) {
    const at = toPath(path, 'readdir');
    // The path as the script gave it.
    const shown = typeof path === 'string' ? path : at;
    const withTypes = isObject(options) && options.withFileTypes === true;
    const found = listDirectory(at, isObject(options) && options.recursive === true);
    const list = [];
    for (let i = 0; i < found.length; i += 2) {
      const cut = lastIndexOf(found[i], '/');
      push(
        list,
        withTypes
          ? new Dirent(
              substring(found[i], cut + 1),
              cut < 0 ? shown : (endsWith(shown, '/') ? shown : shown + '/') + substring(found[i], 0, cut),
              found[i + 1],
            )
          : found[i],
      );
    }
    return list;
  },
  stat(path) {
    const at = toPath(path, 'stat');
    return new Stats(attempt('stat', at, () => native.stat(at, true)));
  },
  lstat(path) {
    const at = toPath(path, 'lstat');
    return new Stats(attempt('lstat', at, () => native.stat(at, false)));
  },
  mkdir(path, options) {
    const at = toPath(path, 'mkdir');
    const { recursive, mode } = isObject(options) ? options : { __proto__: null, recursive: false, mode: typeof options === 'number' ? options : undefined };
    const bits = typeof mode === 'string' ? parseOctal(mode) : mode;
    attempt('mkdir', at, () =>
      createWith(recursive === true ? parentsOf(at) : [at], 0o777, bits, () => native.createDirectory(at, recursive === true)),
    );
  },
  rm(path, options) {
    const at = toPath(path, 'rm');
    const { recursive = false, force = false } = isObject(options) ? options : {};
    try {
      if (!recursive && native.stat(at, false).kind === 'directory') throw 'EISDIR';
      native.remove(at, recursive === true);
    } catch (code) {
      if (code === 'ENOENT' && force) return;
      throw typeof code === 'string' ? fileError(code, code === 'ENOENT' ? 'lstat' : 'rm', at) : code;
    }
  },
  rmdir(path) {
    const at = toPath(path, 'rmdir');
    attempt('rmdir', at, () => {
      if (native.stat(at, false).kind !== 'directory') throw 'ENOTDIR';
      native.remove(at, false);
    });
  },
  unlink(path) {
    const at = toPath(path, 'unlink');
    attempt('unlink', at, () => {
      if (native.stat(at, false).kind === 'directory') throw 'EISDIR';
      native.remove(at, false);
    });
  },
  rename(from, to) {
    const a = toPath(from, 'rename');
    const b = toPath(to, 'rename');
    attempt('rename', a, () => native.rename(a, b), b);
  },
  copyFile(from, to) {
    const a = toPath(from, 'copyFile');
    const b = toPath(to, 'copyFile');
    attempt('copyfile', a, () => native.copy(a, b), b);
  },
  exists(path) {
    return exists(toPath(path, 'exists'));
  },
  access(path) {
    const at = toPath(path, 'access');
    attempt('access', at, () => native.stat(at, true));
  },
  symlink(target, path) {
    if (typeof target !== 'string')
      throw new TypeError('fs.symlink takes a target as a string, got ' + kindOf(target));
    const at = toPath(path, 'symlink');
    attempt('symlink', target, () => native.createLink(target, at), at);
  },
  readlink(path) {
    const at = toPath(path, 'readlink');
    return attempt('readlink', at, () => native.readLink(at));
  },
  realpath(path) {
    const at = toPath(path, 'realpath');
    attempt('realpath', at, () => native.stat(at, true));
    return resolveLinks(at);
  },
  chmod(path, mode) {
    const at = toPath(path, 'chmod');
    const bits = typeof mode === 'string' ? parseOctal(mode) : mode;
    if (!isInteger(bits) || bits < 0 || bits > 0o7777) {
      throw new TypeError('fs.chmod takes permission bits, for example 0o755; got ' + inspect(mode));
    }
    attempt('chmod', at, () => native.setMode(at, bits));
  },
  truncate(path, length = 0) {
    const at = toPath(path, 'truncate');
    if (!isInteger(length) || length < 0)
      throw new TypeError('fs.truncate takes a length in bytes; got ' + inspect(length));
    attempt('truncate', at, () => native.truncate(at, length));
  },
  utimes(path, accessed, modified) {
    const at = toPath(path, 'utimes');
    const millis = toMillis(modified);
    if (!isFiniteNumber(millis)) {
      throw new TypeError('fs.utimes takes times as a Date or in seconds; got ' + inspect(modified));
    }
    attempt('utime', at, () => native.setModified(at, millis));
  },
};

const parseOctal = (text) => (regExpTest(/^[0-7]{1,4}$/, text) ? globalThis.Number('0o' + text) : NaN);

// Resolves links, `.` and `..` in a path, which is known to exist.
const resolveLinks = (path) => {
  let todo = split(path, '/');
  let done = [];
  while (todo.length > 0) {
    const segment = todo[0];
    todo = slice(todo, 1);
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      done = slice(done, 0, -1);
      continue;
    }
    const here = '/' + join(done, '/') + (done.length > 0 ? '/' : '') + segment;
    if (native.stat(here, false).kind !== 'link') {
      push(done, segment);
      continue;
    }
    const target = native.readLink(here);
    if (startsWith(target, '/')) done = [];
    const rest = split(target, '/');
    for (let i = 0; i < todo.length; i++) push(rest, todo[i]);
    todo = rest;
  }
  return '/' + join(done, '/');
};

// Converts a function to one that returns a promise. Its name appears in messages, and its frame belongs to the
// prelude.
const promised = (name, work) =>
  ({
    async [name](...values) {
      return apply(work, undefined, values);
    },
  })[name];

const fsObject = {};
for (const name in fsSync) {
  fsObject[name] = promised(name, fsSync[name]);
  define(fsObject, name + 'Sync', fsSync[name]);
}
define(fsObject, 'promises', fsObject);
defineGlobal('fs', fsObject);
