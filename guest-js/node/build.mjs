// Writes bundle.js, which is part of the guest, and LICENCES.txt, with the licences of the bundled packages.

import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
const local = (name) => path.join(here, 'src', name);
// Our own modules, under the names by which the libraries import them.
const ours = {
  util: local('util.js'),
  'util/': local('util.js'),
  process: local('process.js'),
  'process/': local('process.js'),
  qs: local('qs.js'),
  'safe-buffer': local('buffer.js'),
  'abort-controller': local('globals.js'),
  'object.assign/polyfill': local('assign.cjs'),
  'object-is/polyfill': local('is.cjs'),
  'object-is': local('is.cjs'),
  'is-nan': local('is.cjs'),
  'call-bind/callBound': local('call-bound.cjs'),
};

// Changes of libraries whose behaviour differs from Node's in ways that scripts can see.
const changed = [
  {
    file: /readable-stream\/lib\/ours\/errors\.js$/,
    replace: [
      // As in Node, the code is a property of each error, and the class has the name of its base class.
      ['super(getMessage(code, message, args))', 'super(getMessage(code, message, args)); host.nodeError(this, code)'],
      ['  NodeError.prototype.code = code\n', "  Object.defineProperty(NodeError, 'name', { value: Base.name })\n"],
    ],
  },
  {
    file: /readable-stream\/lib\/internal\/streams\/readable\.js$/,
    replace: [["['string', 'Buffer', 'Uint8Array']", "['string', 'Buffer', 'TypedArray', 'DataView']"]],
  },
  {
    file: /readable-stream\/lib\/internal\/streams\/writable\.js$/,
    replace: [
      ["['string', 'Buffer', 'Uint8Array']", "['string', 'Buffer', 'TypedArray', 'DataView']"],
      // In object mode chunks have no encoding unless one is given.
      ['if (!encoding) encoding = state.defaultEncoding', 'if (!encoding) encoding = state.objectMode ? undefined : state.defaultEncoding'],
    ],
  },
  {
    // No tick of the script may come between the construction of a stream and its buffered data.
    file: /readable-stream\/lib\/internal\/streams\/destroy\.js$/,
    replace: [['process.nextTick(emitConstructNT, stream)', 'emitConstructNT(stream)']],
  },
  {
    file: /string_decoder\/lib\/string_decoder\.js$/,
    replace: [["throw new Error('Unknown encoding: ' + enc)", "throw host.nodeError(new TypeError('Unknown encoding: ' + enc), 'ERR_UNKNOWN_ENCODING')"]],
  },
  {
    file: /assert\/build\/internal\/util\/comparisons\.js$/,
    replace: [['return val1 == val2;', 'return val1 == val2 || (val1 !== val1 && val2 !== val2);']],
  },
  {
    file: /\/punycode\/punycode\.js$/,
    replace: [["if (digit >= base || digit", "if (digit >= base) error('invalid-input');\n\n\t\t\t\tif (digit"]],
  },
  {
    file: /\/url\/url\.js$/,
    replace: [
      ["this.search = '';", 'this.search = null;'],
      ['this.query = {};', 'this.query = Object.create(null);'],
    ],
  },
  {
    // Warnings of the process in Node's words, and checks of options.
    file: /events\/events\.js$/,
    replace: [
      ['if (console && console.warn) console.warn(warning);', 'EventEmitter.warnOfListeners(warning);'],
      // Symbols are names of events, too.
      ['var keys = Object.keys(events);', 'var keys = Reflect.ownKeys(events);'],
      ['function EventEmitter() {\n  EventEmitter.init.call(this);', 'function EventEmitter(options) {\n  EventEmitter.init.call(this, options);'],
    ],
  },
];

const result = await build({
  absWorkingDir: here,
  entryPoints: [local('index.js')],
  bundle: true,
  format: 'iife',
  globalName: 'tollhouseNode',
  target: 'es2022',
  minifySyntax: true,
  minifyWhitespace: false,
  keepNames: false,
  legalComments: 'none',
  metafile: true,
  mainFields: ['module', 'main'],
  write: false,
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [
    {
      name: 'ours',
      setup(build) {
        for (const { file, replace } of changed) {
          build.onLoad({ filter: file }, async ({ path: at }) => {
            let text = await fs.promises.readFile(at, 'utf8');
            for (const [from, to] of replace) {
              if (!text.includes(from)) throw new Error(`${at} has no longer: ${from}`);
              text = text.replaceAll(from, to);
            }
            return { contents: text };
          });
        }
        build.onResolve({ filter: /.*/ }, ({ path: name, importer }) => {
          if (name in ours) return { path: ours[name] };
          if ((name === 'buffer' || name === 'events' || name === 'stream') && importer.includes('node_modules')) {
            return { path: local(`${name}.js`) };
          }
          return undefined;
        });
      },
    },
  ],
});

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (match) packages.add(match[1]);
}
let licences = 'bundle.js holds code of these packages from npm.\n';
for (const name of [...packages].sort()) {
  const directory = path.join(here, 'node_modules', name);
  const { version, license } = JSON.parse(fs.readFileSync(path.join(directory, 'package.json'), 'utf8'));
  if (!['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'].includes(license)) {
    throw new Error(`${name} is under ${license}`);
  }
  const file = fs.readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '(The package names its licence in package.json only.)' : fs.readFileSync(path.join(directory, file), 'utf8');
  licences += `\n${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${text.trim()}\n`;
}

const unicode = fs.readFileSync(path.join(here, 'unicode-licence.txt'), 'utf8');
licences += `\n${'-'.repeat(80)}\nUnicode CLDR: what Intl writes in locales (Unicode-3.0)\n\n${unicode.trim()}\n`;

const outputs = { 'bundle.js': result.outputFiles[0].text, 'LICENCES.txt': licences };
const check = process.argv.includes('--check');
for (const [name, text] of Object.entries(outputs)) {
  const file = path.join(here, name);
  if (!check) fs.writeFileSync(file, text);
  else if (fs.readFileSync(file, 'utf8') !== text) throw new Error(`${name} is not what its sources give: cargo xtask bundle`);
}
console.log(`${packages.size} packages, ${outputs['bundle.js'].length} bytes`);
