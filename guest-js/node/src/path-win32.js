// `path.win32`: paths of Windows, as strings. A path is a root and segments; either separator is read, `\` is written.
import { invalidType } from './util.js';

const isSeparator = (character) => character === '\\' || character === '/';
const hasDrive = (path) => /^[a-z]:/i.test(path);
// Matches the server and the share of a network path.
const NETWORK_ROOT = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/;

const check = (name, value) => {
  if (typeof value !== 'string') throw invalidType(name, 'string', value);
};

// Splits a path into the device (`C:` or `\\server\share`), whether it is absolute, and what follows the root.
const splitRoot = (path) => {
  const network = NETWORK_ROOT.exec(path);
  if (network !== null) {
    const device = `\\\\${network[1]}\\${network[2]}`;
    return { device, isAbsolute: true, rest: path.slice(network[0].length) };
  }
  if (isSeparator(path[0])) return { device: '', isAbsolute: true, rest: path.slice(1) };
  if (!hasDrive(path)) return { device: '', isAbsolute: false, rest: path };
  const isAbsolute = isSeparator(path[2]);
  return { device: path.slice(0, 2), isAbsolute, rest: path.slice(isAbsolute ? 3 : 2) };
};

// Returns the length of the root as it is written, with the separator behind it.
const rootLength = (path) => {
  const network = NETWORK_ROOT.exec(path);
  if (network !== null) return Math.min(network[0].length + 1, path.length);
  if (isSeparator(path[0])) return 1;
  if (!hasDrive(path)) return 0;
  return isSeparator(path[2]) ? 3 : 2;
};

// Resolves `.` and `..` among segments. Of a relative path, leading `..` are kept.
const resolveSegments = (path, isAbsolute) => {
  const kept = [];
  for (const segment of path.split(/[\\/]+/)) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!isAbsolute) kept.push('..');
  }
  return kept.join('\\');
};

const normalize = (path) => {
  check('path', path);
  if (path === '') return '.';
  if (path === ':') return path;
  const { device, isAbsolute, rest } = splitRoot(path);
  let tail = resolveSegments(rest, isAbsolute);
  if (tail === '' && !isAbsolute) tail = '.';
  if (tail !== '' && isSeparator(path.at(-1)) && rest !== '') tail += '\\';
  // What follows `.\` must not become a drive or a device.
  if (device === '' && !isAbsolute && (hasDrive(tail) || /:([\\/]|$)/.test(path))) tail = `.\\${tail}`;
  return device + (isAbsolute ? '\\' : '') + tail;
};

const isAbsolute = (path) => {
  check('path', path);
  return isSeparator(path[0]) || (hasDrive(path) && isSeparator(path[2]));
};

const join = (...parts) => {
  for (const part of parts) check('path', part);
  const given = parts.filter((part) => part !== '');
  if (given.length === 0) return '.';
  const joined = given.join('\\');
  // Only a first part that begins like a network path makes one; otherwise separators at the start count as one.
  const isNetwork = /^[\\/]{2}[^\\/]/.test(given[0]);
  return normalize(isNetwork ? joined : joined.replace(/^[\\/]{2,}/, '\\'));
};

// Returns the directory from which a path on a drive is resolved: each drive of Windows has its own.
const directoryOf = (device) => {
  const directory = (device !== '' ? host.env[`=${device}`] : undefined) ?? host.cwd();
  const isOther = device !== '' && directory.slice(0, 2).toLowerCase() !== device.toLowerCase();
  return isOther && directory[2] === '\\' ? `${device}\\` : directory;
};

const resolve = (...parts) => {
  let [device, tail, isRooted] = ['', '', false];
  const add = (path) => {
    if (path === '') return;
    const root = splitRoot(path);
    if (root.device !== '') {
      if (device === '') device = root.device;
      // A path on another device is no base of this one.
      else if (device.toLowerCase() !== root.device.toLowerCase()) return;
    }
    if (isRooted) return;
    tail = `${root.rest}\\${tail}`;
    isRooted = root.isAbsolute;
  };
  for (let at = parts.length - 1; at >= 0 && !(isRooted && device !== ''); at--) {
    check(`paths[${at}]`, parts[at]);
    add(parts[at]);
  }
  if (!(isRooted && device !== '')) add(directoryOf(device));
  const resolved = resolveSegments(tail, isRooted);
  return device + (isRooted ? '\\' : '') + resolved || '.';
};

const relative = (from, to) => {
  check('from', from);
  check('to', to);
  const [start, end] = [resolve(from), resolve(to)];
  if (start.toLowerCase() === end.toLowerCase()) return '';
  const segmentsOf = (path) => path.split('\\').filter((segment) => segment !== '');
  const [there, here] = [segmentsOf(end), segmentsOf(start)];
  let common = 0;
  while (common < Math.min(here.length, there.length) && here[common].toLowerCase() === there[common].toLowerCase()) common++;
  if (common === 0 && here.length > 0 && there.length > 0) return end;
  return [...here.slice(common).fill('..'), ...there.slice(common)].join('\\');
};

const toNamespacedPath = (path) => {
  if (typeof path !== 'string' || path === '') return path;
  const resolved = resolve(path);
  if (/^\\\\[^?.]/.test(resolved)) return `\\\\?\\UNC\\${resolved.slice(2)}`;
  return /^[a-z]:\\/i.test(resolved) ? `\\\\?\\${resolved}` : resolved.length <= 2 ? path : resolved;
};

// Returns where the last segment begins and ends; separators at the end of a path do not count.
const lastSegment = (path, start) => {
  let end = path.length;
  while (end > start && isSeparator(path[end - 1])) end--;
  let begin = end;
  while (begin > start && !isSeparator(path[begin - 1])) begin--;
  return { begin, end };
};

const dirname = (path) => {
  check('path', path);
  const root = rootLength(path);
  const { begin } = lastSegment(path, root);
  if (begin > root) return path.slice(0, begin - 1);
  return root === 0 ? '.' : path.slice(0, root);
};

const baseOf = (path) => {
  const { begin, end } = lastSegment(path, hasDrive(path) ? 2 : 0);
  return path.slice(begin, end);
};
const basename = (path, suffix) => {
  if (suffix !== undefined) check('suffix', suffix);
  check('path', path);
  const base = baseOf(path);
  if (suffix === undefined || suffix === '' || suffix === path) return suffix === path ? '' : base;
  return base.endsWith(suffix) && base !== suffix ? base.slice(0, -suffix.length) : base;
};

const extensionOf = (base) => {
  const dot = base.lastIndexOf('.');
  return dot <= 0 || base === '..' ? '' : base.slice(dot);
};
const extname = (path) => {
  check('path', path);
  return extensionOf(baseOf(path));
};

const parse = (path) => {
  check('path', path);
  const length = rootLength(path);
  const root = path.slice(0, length);
  const { begin, end } = lastSegment(path, length);
  const base = path.slice(begin, end);
  const ext = extensionOf(base);
  const dir = begin > length ? path.slice(0, begin - 1) : root;
  return { root, dir, base, ext, name: base.slice(0, base.length - ext.length) };
};

const format = (parts) => {
  if (parts === null || typeof parts !== 'object') throw invalidType('pathObject', 'object', parts);
  const directory = parts.dir || parts.root;
  const extension = parts.ext && !parts.ext.startsWith('.') ? `.${parts.ext}` : parts.ext;
  const base = parts.base || `${parts.name || ''}${extension || ''}`;
  if (!directory) return base;
  return directory === parts.root ? `${directory}${base}` : `${directory}\\${base}`;
};

export default {
  resolve,
  normalize,
  isAbsolute,
  join,
  relative,
  toNamespacedPath,
  dirname,
  basename,
  extname,
  format,
  parse,
  sep: '\\',
  delimiter: ';',
  _makeLong: toNamespacedPath,
};
