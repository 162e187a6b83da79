// `module`: the class of CommonJS modules, and functions about modules.
import { allAbsent } from './absent.js';
import { invalidType } from './util.js';

const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n});'];
const directoryOf = (path) => path.replace(/\/[^/]*$/, '') || '/';
// `test` has no name without `node:`.
const plainBuiltins = () => host.builtinNames().filter((name) => name !== 'test');

function Module(id = '', parent = undefined) {
  Object.assign(this, { id, path: directoryOf(id), exports: {} });
  Object.defineProperty(this, 'parent', { value: parent, writable: true, configurable: true });
  Object.assign(this, { filename: null, loaded: false, children: [] });
}
const pathOf = (module) => module?.filename ?? host.mainPath();
Object.assign(Module.prototype, {
  // Runs a text as the body of this module.
  _compile(content, filename) {
    if (typeof content !== 'string') throw invalidType('content', 'string', content);
    return host.compileModule(this, content, filename);
  },
  load(filename) {
    this.filename = filename;
    this.exports = host.makeRequire(filename)(filename);
    this.loaded = true;
  },
  require(name) {
    return host.makeRequire(pathOf(this))(name);
  },
});

Object.assign(Module, {
  Module,
  createRequire(from) {
    const text = String(from);
    return host.makeRequire(text.startsWith('file://') ? host.pathOfUrl(text) : text);
  },
  isBuiltin: (name) => name === 'node:test' || plainBuiltins().includes(String(name).replace(/^node:/, '')),
  wrap: (script) => WRAPPER[0] + script + WRAPPER[1],
  wrapper: WRAPPER,
  globalPaths: [],
  // A built-in module's properties are read when they are used.
  syncBuiltinESMExports() {},
  // There are no source maps, so that no file has one.
  findSourceMap() {},
  _cache: host.moduleCache,
  _extensions: host.moduleLoaders,
  _load: (name, parent) => host.makeRequire(pathOf(parent))(name),
  _resolveFilename: (name, parent) => host.makeRequire(pathOf(parent)).resolve(name),
  _nodeModulePaths: (directory) => host.packagePaths(directory),
  ...allAbsent('module', ['SourceMap', 'register', 'runMain'], 'modules are found and loaded by Tollhouse. Use `import` and `require`, or `require.extensions`'),
});
Object.defineProperty(Module, 'builtinModules', { get: plainBuiltins, enumerable: true });
// `node --check` of the shell uses this.
Object.defineProperty(Module, Symbol.for('tollhouse.checkSyntax'), { value: host.checkSyntax });
export default Module;
