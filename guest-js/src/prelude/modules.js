// `require` and `import`: finds the module that a name refers to, and loads it. QuickJS's own modules do the rest
// (`src/modules.rs`).

let scriptName = 'script';
// True if the main script was read from a file.
let isFromFile = false;
let args = [];
// Environment variables. As in Node, values that are set become text.
const environment = {};
let toldOfZone = false;
// Warns once that dates do not follow the variable `TZ`.
const tellOfZone = (zone) => {
  if (toldOfZone || zone === 'UTC') return;
  toldOfZone = true;
  processEvents.warn('the variable TZ is not followed: local times are those of UTC; give `timeZone` to Intl and `toLocaleString`');
};
const env = new Proxy(environment, {
  __proto__: null,
  set(target, name, value) {
    if (typeof name === 'symbol' || typeof value === 'symbol') {
      throw new TypeError('Cannot convert a Symbol value to a string');
    }
    defineShown(target, name, String(value));
    if (name === 'TZ') tellOfZone(target[name]);
    return true;
  },
  defineProperty(target, name, property) {
    if (!('value' in property)) return false;
    defineShown(target, name, String(property.value));
    return true;
  },
});
defineGlobal('env', env);

// Node's modules, by name without `node:`.
let builtins = { __proto__: null };

const defineCode = (error, code) => {
  error.code = code;
  return error;
};
const moduleError = (code, message, hint) => {
  const error = nodeError(new Error(message), code);
  weakSet(origins, error, { __proto__: null, kind: 'exception', hint });
  return error;
};

// Replacements for modules of Node that are not available.
const missingBuiltins = { __proto__: null };
const missing = (names, hint) => mapList(names, (name) => (missingBuiltins[name] = hint));
missing(
  ['http2', 'tls', 'dgram', 'dns', 'dns/promises'],
  'a script has no sockets: use `fetch`, or `http` and `https`, which go through the tool `http`',
);
missing(['cluster'], 'a script is one process: use `await Promise.all(…)`, or `spawn("node", [file])` of `child_process`');
missing(['inspector', 'inspector/promises'], 'there is no debugger: use `console.log` and the stacks of errors');
missing(['repl'], 'use `readline` for input, or `tollhouse repl` outside');
missing(['test', 'test/reporters'], 'use `node:test`, which writes TAP');
missing(['sqlite'], 'use the tool `sql`, if it is mounted: `listTools()` shows what is');
missing(['wasi', 'sea'], 'use programs of the shell: `child_process` or `await shell(command)`');
missing(['trace_events', 'domain'], 'use `events`, and `AsyncLocalStorage` of `async_hooks`');
// Modules that need the prefix `node:`; without it the names are those of packages.
const prefixedBuiltins = ['test', 'test/reporters', 'sqlite', 'sea'];

// Replacements for the best-known packages of npm.
const packagesElsewhere = { __proto__: null };
const elsewhereIs = (names, hint) => mapList(names, (name) => (packagesElsewhere[name] = hint));
elsewhereIs(['axios', 'node-fetch', 'got', 'request', 'superagent', 'undici', 'cross-fetch'], 'use `fetch`');
elsewhereIs(['express', 'fastify', 'koa', 'ws', 'socket.io'], 'nobody can connect to a script: there are no servers here');
elsewhereIs(['uuid', 'nanoid'], 'use `crypto.randomUUID()`');
elsewhereIs(['dotenv'], 'use `process.env`: variables come with `--env NAME=VALUE`');
elsewhereIs(['fs-extra', 'rimraf', 'mkdirp', 'graceful-fs'], 'use `fs`: `rm` and `mkdir` with `{ recursive: true }`, `cp`');
elsewhereIs(['glob', 'fast-glob', 'globby'], 'use `fs.readdirSync(path, { recursive: true })`, or the shell');
elsewhereIs(['minimist', 'yargs', 'commander'], 'use `parseArgs` of `util`');
elsewhereIs(['lodash', 'underscore', 'lodash-es'], 'use the language: `Object.groupBy`, `structuredClone`, methods of arrays');
elsewhereIs(['moment', 'dayjs', 'date-fns', 'luxon'], 'use `Date` and `Intl.DateTimeFormat`');
elsewhereIs(['chalk', 'colors', 'kleur'], 'there is no terminal: print plain text');
elsewhereIs(['pako', 'fflate'], 'use `zlib`');
elsewhereIs(['sqlite3', 'better-sqlite3'], 'use the tool `sql`, if it is mounted: `listTools()` shows what is');
elsewhereIs(['csv-parse', 'csv-parser', 'papaparse', 'fast-csv'], 'use the tool `csv`, if it is mounted: `listTools()` shows what is');

const directoryOf = (path) => {
  const cut = lastIndexOf(path, '/');
  return cut <= 0 ? '/' : substring(path, 0, cut);
};
const absolutePath = (path, directory) => {
  const whole = startsWith(path, '/') ? path : directory + '/' + path;
  // Most paths are in normal form already.
  if (!includes(whole, '//') && !includes(whole, '/.') && !endsWith(whole, '/')) return whole;
  const segments = split(whole, '/');
  const done = [];
  for (let i = 0; i < segments.length; i++) {
    if (segments[i] === '..') done.length = max(done.length - 1, 0);
    else if (segments[i] !== '' && segments[i] !== '.') push(done, segments[i]);
  }
  return '/' + join(done, '/');
};
const kindAt = (path) => {
  try {
    return native.stat(path, true).kind;
  } catch {
    return undefined;
  }
};
const mainPath = () => absolutePath(scriptName, startDirectory);
// Returns the directory from which a module's own imports are resolved. For the main script that is the directory in
// which it starts.
const baseDirectory = (base) => (startsWith(base, '/') ? directoryOf(base) : startDirectory);

const endings = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json'];

// Returns the file that a path refers to: the path itself, the path with an extension, or the main file of a directory.
const fileAt = (path) => {
  const kind = kindAt(path);
  if (kind === 'file') return path;
  for (let i = 0; i < endings.length; i++) if (kindAt(path + endings[i]) === 'file') return path + endings[i];
  // TypeScript code imports `x.ts` as `x.js`.
  const match = regExpExec(/^(.*)\.([mc]?)js$/, path);
  if (match !== null && kindAt(match[1] + '.' + match[2] + 'ts') === 'file') return match[1] + '.' + match[2] + 'ts';
  if (kind !== 'directory') return undefined;
  const main = readPackage(path)?.main;
  if (typeof main === 'string') {
    const found = fileAt(absolutePath(main, path));
    if (found !== undefined) return found;
  }
  for (let i = 0; i < endings.length; i++) {
    if (kindAt(path + '/index' + endings[i]) === 'file') return path + '/index' + endings[i];
  }
  return undefined;
};

const readPackage = (directory) => {
  const at = directory + '/package.json';
  if (kindAt(at) !== 'file') return undefined;
  const record = parseJson(native.readText(at) ?? '');
  return isObject(record) ? record : undefined;
};

// Resolves a path in a package with the package's `exports`.
const fromExports = (exports, subpath, conditions) => {
  if (typeof exports === 'string') return exports;
  if (isArray(exports)) return exports.length > 0 ? fromExports(exports[0], subpath, conditions) : undefined;
  if (!isObject(exports)) return undefined;
  const keys = objectKeys(exports);
  if (keys.length > 0 && startsWith(keys[0], '.')) {
    if (hasOwn(exports, subpath)) return fromExports(exports[subpath], '.', conditions);
    for (let i = 0; i < keys.length; i++) {
      const star = indexOf(keys[i], '*');
      if (star < 0 || !startsWith(subpath, substring(keys[i], 0, star))) continue;
      if (!endsWith(subpath, substring(keys[i], star + 1))) continue;
      const part = substring(subpath, star, subpath.length - (keys[i].length - star - 1));
      const target = fromExports(exports[keys[i]], '.', conditions);
      return target === undefined ? undefined : join(split(target, '*'), part);
    }
    return undefined;
  }
  for (let i = 0; i < keys.length; i++) {
    if (!contains(conditions, keys[i])) continue;
    const found = fromExports(exports[keys[i]], subpath, conditions);
    if (found !== undefined) return found;
  }
  return undefined;
};

// Returns the error about a path that the `exports` of a package do not name.
const notExported = (subpath, root, conditions) => {
  const what = subpath === undefined ? 'No "exports" main defined' : "Package subpath '." + subpath + '\' is not defined by "exports"';
  const from = conditions === importConditions ? ' imported from ' + mainPath() : '';
  return moduleError('ERR_PACKAGE_PATH_NOT_EXPORTED', what + ' in ' + root + '/package.json' + from);
};

// Finds a package in a `node_modules` directory of this directory or one above.
const packageAt = (name, directory, conditions) => {
  const match = regExpExec(/^((?:@[^/]+\/)?[^/]+)(\/.*)?$/, name);
  if (match === null) return undefined;
  for (let at = directory; ; at = directoryOf(at)) {
    const root = (at === '/' ? '' : at) + '/node_modules/' + match[1];
    if (kindAt(root) === 'directory') {
      const record = readPackage(root);
      if (record?.exports !== undefined) {
        const target = fromExports(record.exports, '.' + (match[2] ?? ''), conditions);
        if (typeof target !== 'string') throw notExported(match[2], root, conditions);
        return fileAt(absolutePath(target, root));
      }
      if (match[2] === undefined && contains(conditions, 'import') && typeof record?.module === 'string') {
        return fileAt(absolutePath(record.module, root));
      }
      return fileAt(root + (match[2] ?? ''));
    }
    if (at === '/') return undefined;
  }
};

const importConditions = ['import', 'node', 'default'];
const requireConditions = ['require', 'node', 'default'];

const findModule = (name, base, conditions) => {
  const plain = startsWith(name, 'node:') ? substring(name, 5) : name;
  if (plain in builtins && (plain !== name || !contains(prefixedBuiltins, plain))) return 'node:' + plain;
  if (plain !== name || (plain in missingBuiltins && !contains(prefixedBuiltins, plain))) {
    throw moduleError(
      'ERR_UNKNOWN_BUILTIN_MODULE',
      plain in missingBuiltins
        ? "the module '" + name + "' of Node is not available in Tollhouse"
        : 'No such built-in module: ' + name,
      missingBuiltins[plain] ?? nearestBuiltin(plain),
    );
  }
  const scheme = conditions === importConditions ? regExpExec(/^([a-z][a-z\d+.-]+:)\/\//, name) : null;
  if (scheme !== null && scheme[1] !== 'file:') {
    const message = "Only URLs with a scheme in: file, data, and node are supported by the default ESM loader. Received protocol '" + scheme[1] + "'";
    throw moduleError('ERR_UNSUPPORTED_ESM_URL_SCHEME', message, 'mount the module as a file of the session');
  }
  const path = startsWith(name, 'file://') ? decodePath(substring(name, 7)) : name;
  const directory = baseDirectory(base);
  const isPath = regExpTest(/^(\/|\.\.?(\/|$))/, path);
  const found = isPath ? fileAt(absolutePath(path, directory)) : packageAt(path, directory, conditions);
  if (found !== undefined) return found;
  const from = startsWith(base, '/') ? base : mainPath();
  const hint = isPath
    ? (nearestFile(absolutePath(path, directory)) ?? mountHint(absolutePath(path, directory)))
    : (packagesElsewhere[name] ?? nearestBuiltin(name) ??
      'only modules of Node, files of the session, and packages in a `node_modules` directory can be imported');
  const isRequired = conditions === requireConditions;
  const what = isRequired || startsWith(name, '.') || startsWith(name, '/') ? 'module' : 'package';
  const shown = isPath && !isRequired ? absolutePath(path, directory) : name;
  const message = 'Cannot find ' + what + " '" + shown + "'" + (isRequired ? '\nRequire stack:\n- ' : ' imported from ') + from;
  const error = moduleError(isRequired ? 'MODULE_NOT_FOUND' : 'ERR_MODULE_NOT_FOUND', message, hint);
  if (isRequired) error.requireStack = [from];
  throw error;
};

const nearestBuiltin = (name) => {
  const near = native.nearest(name, objectKeys(builtins));
  return near == null ? undefined : "did you mean '" + near + "'?";
};
const nearestFile = (path) => {
  try {
    const entries = native.readDirectory(directoryOf(path));
    const names = [];
    for (let i = 0; i < entries.length; i += 2) push(names, entries[i]);
    const near = native.nearest(substring(path, lastIndexOf(path, '/') + 1), names);
    return near == null ? undefined : "did you mean '" + near + "', which is in " + directoryOf(path) + '?';
  } catch {
    return 'there is no directory ' + directoryOf(path) + '; ' + mountHint(path);
  }
};

// Returns a hint on mounting files: a script cannot see the files next to it on the machine where it was started.
const mountHint = (path) => {
  const file = regExpTest(/\.[a-z]+$/, path) ? path : path + (regExpTest(/\.[mc]?ts$/, scriptName) ? '.ts' : '.js');
  const name = substring(file, lastIndexOf(file, '/') + 1);
  return (
    'a script sees the files of its session, not those beside it: add `--mount ./' + name + ':' + file +
    '`, or mount the whole directory with `--mount .:' + startDirectory + '`'
  );
};

const resolveModule = (name, base) => (startsWith(name, 'data:') ? name : findModule(name, base, importConditions));

// Loads the module that is the content of a `data:` URL.
const loadData = (url) => {
  const parts = regExpExec(/^data:([^,;]*)((?:;[^,;]*)*?)(;base64)?,([^]*)$/, url);
  if (parts === null) throw defineCode(new TypeError('Invalid URL'), 'ERR_INVALID_URL');
  const text = parts[3] === undefined ? decodePath(parts[4]) : native.decodeUtf8Lossy(native.decodeBase64(decodePath(parts[4])));
  if (parts[1] === 'text/javascript') return { __proto__: null, source: text };
  if (parts[1] === 'application/json') return exportsOf(parseJsonModule(text, url), false);
  const named = new RangeError('Unknown module format: ' + parts[1] + ' for URL ' + url);
  throw nodeError(named, 'ERR_UNKNOWN_MODULE_FORMAT');
};

// Removes the byte order mark of a file.
const withoutMark = (text) => (startsWith(text, '\ufeff') ? substring(text, 1) : text);

// Returns what V8 says of a text that is not JSON, or undefined; set by `node/src/json.js`.
let describeJsonFault = () => undefined;
const parseJsonModule = (text, name) => {
  const json = withoutMark(text);
  try {
    return parseJson(json);
  } catch (error) {
    throw new SyntaxError(name + ': ' + (describeJsonFault(json) ?? error.message));
  }
};

// Loads a file: `{json}`, `{source}` of a module, or `{common}`.
const readModule = (path) => {
  const text = attempt('open', path, () => native.readText(path));
  if (text == null) throw moduleError('EILSEQ', "the module '" + path + "' is not UTF-8");
  if (endsWith(path, '.json')) return { __proto__: null, json: parseJsonModule(text, path) };
  const file = native.prepareFile(text, path);
  const isModule = regExpTest(/\.m[jt]s$/, path) || (file.isModule && !regExpTest(/\.c[jt]s$/, path));
  if (isModule || (regExpTest(/\.ts$/, path) && !native.isCommonJs(file.text, path))) {
    return { __proto__: null, source: file.text };
  }
  return { __proto__: null, common: file.text };
};

// Returns the exports of a value: itself as `default`, and its properties.
const exportsOf = (value, named) => {
  const names = ['default'];
  const pairs = ['default', value];
  if (named && isObject(value) && !native.isProxy(value)) {
    const keys = objectKeys(value);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === 'default') continue;
      push(names, keys[i]);
      push(pairs, keys[i]);
      push(pairs, value[keys[i]]);
    }
  }
  return { __proto__: null, names, value: pairs };
};

const loadModule = (name) => {
  if (startsWith(name, MARKED)) return { __proto__: null, source: markedModule(substring(name, MARKED.length)) };
  if (startsWith(name, 'data:')) return loadData(name);
  if (startsWith(name, 'node:')) return exportsOf(builtins[substring(name, 5)], true);
  const found = readModule(name);
  if (found.source !== undefined) return found;
  if ('json' in found) return exportsOf(found.json, false);
  return exportsOf(requireFile(name, undefined, found), true);
};

// Exports of CommonJS files, by path. Scripts see them as `require.cache`.
const commonCache = { __proto__: null };

// Loaders of files by their extension, which scripts see as `require.extensions`. Those that a script adds are used, too.
const loaders = { __proto__: null };
const addLoader = (extension, load) => defineShown(loaders, extension, load);
const textAt = (path) => {
  const text = attempt('open', path, () => native.readText(absolutePath(path, startDirectory)));
  if (text == null) throw moduleError('EILSEQ', "the module '" + path + "' is not UTF-8");
  return text;
};
addLoader('.js', (module, path) => compileModule(module, textAt(path), path));
addLoader('.json', (module, path) => (module.exports = parseJsonModule(textAt(path), path)));
addLoader('.node', (module, path) => {
  throw moduleError('ERR_DLOPEN_FAILED', path + ': a script cannot load native code', 'use a module of JavaScript, or a program of the shell');
});
const plainLoaders = { __proto__: null, ...loaders };

// Returns the loader of a file that the script has set itself; undefined if there is none.
const ownLoader = (path) => {
  const extension = regExpExec(/\.[^./]+$/, path)?.[0] ?? '.js';
  const load = loaders[extension];
  return typeof load === 'function' && load !== plainLoaders[extension] ? load : undefined;
};

// Returns the package directories for a file in this directory, the nearest first.
const packagePaths = (directory) => {
  const paths = [];
  for (let at = directory; ; at = directoryOf(at)) {
    if (!endsWith(at, '/node_modules')) push(paths, (at === '/' ? '' : at) + '/node_modules');
    if (at === '/') return paths;
  }
};

// Creates the module object of a file. `parent` is the module that first required it: null for the main script,
// undefined if there is none.
const makeModule = (id, path, parent, require) => {
  const directory = directoryOf(path);
  const module = { id, path: directory, exports: {}, filename: path, loaded: false, children: [], paths: packagePaths(directory) };
  define(module, 'parent', parent);
  define(module, 'require', require ?? makeRequire(path, module));
  if (parent != null) push(parent.children, module);
  return module;
};

// Runs the text of a CommonJS module with its functions.
const compileModule = (module, text, path) => {
  const run = native.compileCommonJs(text, path);
  return apply(run, module.exports, [module.exports, module.require, module, path, directoryOf(path)]);
};

const requireFile = (path, parent, found) => {
  if (path in commonCache) return commonCache[path].exports;
  const load = ownLoader(path);
  if (load !== undefined) return loadModuleWith(path, parent, (module) => load(module, path));
  const file = found ?? readModule(path);
  if (file.source !== undefined) {
    // Beforehand: a module that requires itself is told so, and gets no unfinished exports.
    const exports = requireModule(path);
    return loadModuleWith(path, parent, (module) => (module.exports = exports));
  }
  return loadModuleWith(path, parent, (module) => {
    if ('json' in file) module.exports = file.json;
    else compileModule(module, file.common, path);
  });
};
// Evaluates an ES module, and returns what `require` gives for it: its namespace, with `__esModule` if it has a default
// export, as compiled CommonJS expects it.
const requireModule = (path) => {
  const namespace = evaluateModule(path);
  if (!('default' in namespace) || '__esModule' in namespace) return namespace;
  return evaluateModule(MARKED + path);
};
const evaluateModule = (name) => {
  const namespace = native.requireModule(name);
  if (namespace === 'await') {
    throw moduleError(
      'ERR_REQUIRE_ASYNC_MODULE',
      'require() cannot be used on an ESM graph with top-level await. Use import() instead.\n  Requiring ' + name + ' ',
      'write `await import(...)`, or `import` at the top of the script',
    );
  }
  if (namespace === 'cycle') {
    throw moduleError('ERR_REQUIRE_CYCLE_MODULE', 'Cannot require() ES Module ' + name + ' in a cycle. It is being evaluated already.');
  }
  return namespace;
};
// Name of a module that has the exports of another one and `__esModule`, without the path of that one.
const MARKED = 'marked:';
const markedModule = (path) => {
  const quoted = stringifyJson(path);
  return 'export * from ' + quoted + '; export { default } from ' + quoted + '; export const __esModule = true;';
};

const loadModuleWith = (path, parent, load) => {
  const module = makeModule(path, path, parent);
  commonCache[path] = module;
  try {
    load(module);
  } catch (error) {
    delete commonCache[path];
    throw error;
  }
  module.loaded = true;
  return module.exports;
};

// Creates the `require` of the file at `base`, or of the main script without one. `module` is the module object, if
// there is one.
const makeRequire = (base, module) => {
  const from = () => (base === undefined ? mainPath() : base);
  const find = (name, argument) => {
    if (typeof name !== 'string') {
      throw nodeError(new TypeError('The "' + argument + '" argument must be of type string.' + received(name)), 'ERR_INVALID_ARG_TYPE');
    }
    if (name === '') throw nodeError(new TypeError("The argument 'id' must be a non-empty string. Received ''"), 'ERR_INVALID_ARG_VALUE');
    return findModule(name, from(), requireConditions);
  };
  const require = {
    require(name) {
      const found = find(name, 'id');
      return startsWith(found, 'node:') ? builtins[substring(found, 5)] : requireFile(found, base === undefined ? mainModule() : module);
    },
  }.require;
  const resolve = {
    resolve(name) {
      const found = find(name, 'request');
      return startsWith(found, 'node:') ? name : found;
    },
  }.resolve;
  // Returns the directories in which a module is looked for, or null for one of Node's.
  define(resolve, 'paths', (name) => {
    if (startsWith(name, 'node:') || (name in builtins && !contains(prefixedBuiltins, name))) return null;
    const directory = directoryOf(from());
    return regExpTest(/^\.\.?(\/|$)/, name) ? [directory] : packagePaths(directory);
  });
  defineShown(require, 'resolve', resolve);
  defineProperty(require, 'main', { __proto__: null, get: mainModule, enumerable: true, configurable: true });
  defineShown(require, 'extensions', loaders);
  defineShown(require, 'cache', commonCache);
  return require;
};

// Returns the module object of the main script. Each script has one, whose making takes longer than the start of a short
// script: it is in the image, with the name and the directory that most scripts have.
const mainModule = () => {
  if (!isMainModuleNamed) {
    isMainModuleNamed = true;
    const path = mainPath();
    if (path !== mainModuleObject.filename) {
      const directory = directoryOf(path);
      mainModuleObject.id = mainModuleObject.filename = path;
      if (directory !== mainModuleObject.path) {
        mainModuleObject.path = directory;
        mainModuleObject.paths = packagePaths(directory);
      }
    }
    if (isFromFile) {
      mainModuleObject.id = '.';
      commonCache[path] ??= mainModuleObject;
    }
  }
  return mainModuleObject;
};
// Returns `this` at the top level of a main script that is not an ES module: as in Node, its exports if it is a file,
// and otherwise the global object.
const mainThis = () => (isFromFile ? mainModule().exports : globalThis);
// Returns the arguments of a main script that is not an ES module. Only `arguments` of the script sees them.
const mainArguments = () => {
  const { exports, filename, path } = mainModule();
  return [exports, mainRequire, mainModuleObject, filename, path];
};

// Defines a global that the main script may also declare itself.
const defineMain = (name, make) => {
  defineGetter(
    globalThis,
    name,
    { get: make }.get,
    (value) => defineGlobal(name, value),
  );
};
const mainRequire = makeRequire(undefined);
const mainModuleObject = makeModule(mainPath(), mainPath(), null, mainRequire);
let isMainModuleNamed = false;
defineGlobal('require', mainRequire);
defineMain('module', mainModule);
defineMain('exports', () => mainModule().exports);
defineMain('__filename', mainPath);
defineMain('__dirname', () => directoryOf(mainPath()));

// Imports for the main script. The imported names must exist.
const importForMain = async (name, names) => {
  const found = await import(name);
  for (let i = 0; i < names.length; i++) {
    if (!(names[i] in found)) {
      const near = native.nearest(names[i], objectKeys(found));
      const error = new SyntaxError("The requested module '" + name + "' does not provide an export named '" + names[i] + "'");
      const hint = near == null ? undefined : 'did you mean `' + near + '`?';
      weakSet(origins, error, { __proto__: null, kind: 'syntax', hint });
      throw error;
    }
  }
  return found;
};

const importMeta = createObject(null);
defineProperty(importMeta, 'url', { __proto__: null, get: () => 'file://' + mainPath(), enumerable: true });
defineProperty(importMeta, 'filename', { __proto__: null, get: mainPath, enumerable: true });
defineProperty(importMeta, 'dirname', { __proto__: null, get: () => directoryOf(mainPath()), enumerable: true });
define(importMeta, 'resolve', (name) => {
  const found = findModule(String(name), mainPath(), importConditions);
  return startsWith(found, 'node:') ? found : 'file://' + found;
});
define(importMeta, 'main', true);
const mainScope = [importForMain, importMeta];
