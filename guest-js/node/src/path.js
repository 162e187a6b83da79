import path from 'path-browserify';
import { matchesGlob } from './path-glob.js';
import win32 from './path-win32.js';
import { emitWarning, invalidType } from './util.js';

// Checks an argument with Node's message; the library has another one.
const check = (name, value) => {
  if (typeof value !== 'string') throw invalidType(name, 'string', value);
};
const replace = (functions) => {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(functions))) {
    path[name] = Object.defineProperty(value, 'length', { value: path[name].length, configurable: true });
  }
};
const checked = (name, ...wanted) => {
  const work = path[name];
  const checks = (...given) => {
    wanted.forEach((argument, at) => check(argument, given[at]));
    return work(...given);
  };
  replace({ [name]: Object.defineProperty(checks, 'name', { value: name, configurable: true }) });
};
for (const name of ['normalize', 'isAbsolute', 'dirname', 'extname', 'parse']) checked(name, 'path');
checked('relative', 'from', 'to');

const { basename, join, resolve } = path;
replace({
  basename(name, suffix) {
    if (suffix !== undefined) check('suffix', suffix);
    check('path', name);
    return basename(name, suffix);
  },
  join(...parts) {
    for (const part of parts) check('path', part);
    return join(...parts);
  },
  resolve(...parts) {
    // Goes backwards, up to the first absolute path.
    for (let at = parts.length - 1; at >= 0; at--) {
      check(`paths[${at}]`, parts[at]);
      if (parts[at].startsWith('/')) return resolve(...parts.slice(at));
    }
    return resolve(...parts);
  },
  format(parts) {
    if (parts === null || typeof parts !== 'object') throw invalidType('pathObject', 'object', parts);
    const directory = parts.dir || parts.root;
    const extension = parts.ext && !parts.ext.startsWith('.') ? `.${parts.ext}` : parts.ext;
    const base = parts.base || `${parts.name || ''}${extension || ''}`;
    if (!directory) return base;
    return directory === parts.root ? `${directory}${base}` : `${directory}/${base}`;
  },
});

let toldOfGlob = false;
path.matchesGlob = (name, pattern) => {
  check('path', name);
  check('pattern', pattern);
  if (!toldOfGlob) emitWarning(Object.assign(new Error('glob is an experimental feature and might change at any time'), { name: 'ExperimentalWarning' }));
  toldOfGlob = true;
  return matchesGlob(name, pattern);
};
path.posix = path;
path.toNamespacedPath = (name) => name;
path.win32 = win32;
Object.assign(win32, { win32, posix: path });
export default path;
