// `fs.Stats`: the known facts about an entry. The session's files have one time, which is that of the last change, and
// one owner.
const kinds = { file: 0o100000, directory: 0o040000, link: 0o120000, pipe: 0o010000 };
const OWNER = 1000;
const BLOCK = 4096;
// Size of the blocks that are counted, in bytes.
const UNIT = 512;

const times = ['atime', 'mtime', 'ctime', 'birthtime'];
const typeBits = (stats) => Number(stats.mode) & 0o170000;

export class Stats {
  constructor({ kind, size, mode, modified, id }, big = false) {
    const asNumber = (number) => (big ? BigInt(Math.floor(number)) : number);
    const numbers = {
      dev: 1,
      mode: kinds[kind] | mode,
      nlink: 1,
      uid: OWNER,
      gid: OWNER,
      rdev: 0,
      blksize: BLOCK,
      ino: id,
      size,
      blocks: Math.ceil(size / BLOCK) * (BLOCK / UNIT),
    };
    for (const [name, number] of Object.entries(numbers)) this[name] = asNumber(number);
    for (const time of times) this[`${time}Ms`] = asNumber(modified);
    if (big) for (const time of times) this[`${time}Ns`] = BigInt(Math.round(modified * 1e6));
    for (const time of times) this[time] = new Date(modified);
  }
  isFile() {
    return typeBits(this) === kinds.file;
  }
  isDirectory() {
    return typeBits(this) === kinds.directory;
  }
  isSymbolicLink() {
    return typeBits(this) === kinds.link;
  }
  isFIFO() {
    return typeBits(this) === kinds.pipe;
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

/** Returns the result of `fs.statSync` for a record of the files. */
export const statsOf = (record, options) => new Stats(record, options?.bigint === true);

/** Returns the result for standard input, output and error. */
export const pipeStats = (options) => statsOf({ kind: 'pipe', size: 0, mode: 0o600, modified: 0, id: 0 }, options);

// Kinds of entries that do not exist in a session.
for (const name of ['isFIFO', 'isSocket', 'isBlockDevice', 'isCharacterDevice']) {
  Object.defineProperty(host.Dirent.prototype, name, { value: () => false, configurable: true, writable: true });
}
