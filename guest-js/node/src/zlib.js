// `zlib`: functions and streams of Node over the guest's codecs, and `CompressionStream` of the web. Brotli can only be
// decompressed.
import { Buffer } from './buffer.js';
import { codedError, invalidType, outOfRange, isWhole } from './util.js';
import process from './process.js';
import stream from './stream.js';
import { TransformStream } from './webstreams.js';

const { native, asBytes } = host;

const flushes = { Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5 };
const results = {
  Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6,
};
const constants = Object.freeze(Object.assign(Object.create(null), flushes, results, {
  Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1,
  Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0, ZLIB_VERNUM: 4880,
  DEFLATE: 1, INFLATE: 2, GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7, BROTLI_DECODE: 8, BROTLI_ENCODE: 9,
  Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15, Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384,
  Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9, Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
  BROTLI_OPERATION_PROCESS: 0, BROTLI_OPERATION_FLUSH: 1, BROTLI_OPERATION_FINISH: 2, BROTLI_OPERATION_EMIT_METADATA: 3,
  BROTLI_PARAM_MODE: 0, BROTLI_MODE_GENERIC: 0, BROTLI_MODE_TEXT: 1, BROTLI_MODE_FONT: 2, BROTLI_DEFAULT_MODE: 0,
  BROTLI_PARAM_QUALITY: 1, BROTLI_MIN_QUALITY: 0, BROTLI_MAX_QUALITY: 11, BROTLI_DEFAULT_QUALITY: 11,
  BROTLI_PARAM_LGWIN: 2, BROTLI_MIN_WINDOW_BITS: 10, BROTLI_MAX_WINDOW_BITS: 24, BROTLI_LARGE_MAX_WINDOW_BITS: 30, BROTLI_DEFAULT_WINDOW: 22,
  BROTLI_PARAM_LGBLOCK: 3, BROTLI_MIN_INPUT_BLOCK_BITS: 16, BROTLI_MAX_INPUT_BLOCK_BITS: 24,
  BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING: 4, BROTLI_PARAM_SIZE_HINT: 5, BROTLI_PARAM_LARGE_WINDOW: 6, BROTLI_PARAM_NPOSTFIX: 7,
  BROTLI_PARAM_NDIRECT: 8, BROTLI_DECODER_PARAM_DISABLE_RING_BUFFER_REALLOCATION: 0, BROTLI_DECODER_PARAM_LARGE_WINDOW: 1,
}));
const codes = Object.freeze(Object.fromEntries(Object.entries(results).flatMap(([name, number]) => [[name, number], [number, name]])));
const { Z_FINISH, Z_FULL_FLUSH, Z_BUF_ERROR, Z_STREAM_END, Z_NEED_DICT } = constants;

// Largest output of one call of a codec, in bytes (`src/natives/compression.rs`).
const CHUNK = 64 * 1024;
const MAX_LENGTH = 2 ** 32;

const bytesOf = (data, name) => {
  if (typeof data === 'string') return native.encodeUtf8(data);
  const bytes = typeof data === 'object' && data !== null ? asBytes(data) : undefined;
  if (bytes === undefined) throw invalidType(name, 'string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer', data);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

const numberOption = (options, name, low, high, standard) => {
  const value = options[name];
  if (value === undefined || Number.isNaN(value)) return standard;
  if (typeof value !== 'number') throw invalidType(`options.${name}`, 'number', value);
  if (!Number.isFinite(value)) throw outOfRange(`options.${name}`, 'a finite number', value);
  if (value < low || value > high) throw outOfRange(`options.${name}`, `>= ${low} and <= ${high}`, value);
  return value;
};

const checked = (name, given) => {
  const options = given ?? {};
  const inflates = /^(Inflate|Gunzip|Unzip)/.test(name);
  // A window of 0 means the size that the stream names.
  const window = inflates && options.windowBits === 0 ? 15 : numberOption(options, 'windowBits', inflates ? 8 : name === 'Gzip' ? 9 : 8, 15, 15);
  numberOption(options, 'chunkSize', 64, Infinity, 16384);
  const dictionary = options.dictionary === undefined ? undefined : asBytes(options.dictionary);
  if (options.dictionary !== undefined && dictionary === undefined) {
    throw invalidType('options.dictionary', 'an instance of Buffer, TypedArray, DataView, or ArrayBuffer', options.dictionary);
  }
  return {
    name,
    brotli: name.startsWith('Brotli'),
    level: numberOption(options, 'level', -1, 9, -1),
    window,
    memory: numberOption(options, 'memLevel', 1, 9, 8),
    strategy: numberOption(options, 'strategy', 0, 4, 0),
    flush: numberOption(options, 'flush', 0, 5, 0),
    // Brotli has another number for the operation that finishes.
    finishFlush: name.startsWith('Brotli') && (options.finishFlush ?? 2) === 2 ? Z_FINISH : numberOption(options, 'finishFlush', 0, 5, Z_FINISH),
    most: numberOption(options, 'maxOutputLength', 1, MAX_LENGTH, MAX_LENGTH),
    dictionary: dictionary === undefined ? new Uint8Array(0) : new Uint8Array(dictionary),
  };
};

const open = ({ name, level, window, memory, strategy, dictionary }) => {
  if (name === 'BrotliCompress') {
    throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'compressing with Brotli is not available in Tollhouse, decompressing is: use `gzipSync` or `deflateSync`');
  }
  return native.openCodec(name, level, window, memory, strategy, dictionary);
};

// Error messages of Brotli, from -1 downwards.
const brotliFaults = [
  'EXUBERANT_NIBBLE', 'RESERVED', 'EXUBERANT_META_NIBBLE', 'SIMPLE_HUFFMAN_ALPHABET', 'SIMPLE_HUFFMAN_SAME', 'CL_SPACE', 'HUFFMAN_SPACE',
  'CONTEXT_MAP_REPEAT', 'BLOCK_LENGTH_1', 'BLOCK_LENGTH_2', 'TRANSFORM', 'DICTIONARY', 'WINDOW_BITS', 'PADDING_1', 'PADDING_2', 'DISTANCE',
].map((name) => `FORMAT_${name}`);

const failure = (settings, status, message) => {
  if (settings.brotli) {
    const code = brotliFaults[-status - 1] ?? 'UNREACHABLE';
    return Object.assign(new Error('Decompression failed'), { errno: status, code: `ERR__ERROR_${code}` });
  }
  return Object.assign(new Error(message ?? 'Zlib error'), { errno: status, code: codes[status] });
};

// Feeds bytes to a codec, and passes the output to `take`. Returns true at the end of the stream.
const work = (codec, settings, bytes, flush, take) => {
  for (let at = 0; ; ) {
    const [made, taken, status, message] = native.runCodec(codec, bytes, at, flush);
    at += taken;
    if (made.length > 0) take(made);
    if (status === Z_STREAM_END) return true;
    if (status === Z_NEED_DICT || (status < 0 && (settings.brotli || status !== Z_BUF_ERROR))) throw failure(settings, status, message);
    if (made.length === CHUNK) continue;
    // The codec has no more output, and the stream should have ended.
    if (flush === Z_FINISH) throw failure({}, Z_BUF_ERROR, 'unexpected end of file');
    return false;
  }
};

const gathered = (parts, length) => {
  const all = Buffer.alloc(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

const convert = (settings, bytes) => {
  const parts = [];
  let length = 0;
  work(open(settings), settings, bytes, settings.finishFlush, (part) => {
    length += part.length;
    if (length > settings.most) {
      throw codedError(RangeError, 'ERR_BUFFER_TOO_LARGE', `Cannot create a Buffer larger than ${settings.most} bytes`);
    }
    parts.push(part);
  });
  return gathered(parts, length);
};

class ZlibBase extends stream.Transform {
  #state;
  constructor(name, options) {
    const settings = checked(name, options);
    const codec = open(settings);
    super({ autoDestroy: true, ...options });
    this.bytesWritten = 0;
    this.#state = { settings, codec, over: false };
  }
  #run(bytes, flush, callback) {
    const state = this.#state;
    if (state.over) return callback();
    try {
      state.over = work(state.codec, state.settings, bytes, flush, (part) => this.push(Buffer.from(part.buffer)));
    } catch (error) {
      state.over = true;
      state.codec = undefined;
      return callback(error);
    }
    if (state.over) state.codec = undefined;
    return callback();
  }
  _destroy(error, callback) {
    if (this.#state !== undefined) Object.assign(this.#state, { over: true, codec: undefined });
    callback(error);
  }
  _transform(chunk, encoding, callback) {
    const bytes = bytesOf(chunk, 'chunk');
    this.bytesWritten += bytes.length;
    this.#run(bytes, this.#state.settings.flush, callback);
  }
  _flush(callback) {
    this.#run(new Uint8Array(0), this.#state.settings.finishFlush, callback);
  }
  flush(kind, callback) {
    if (typeof kind === 'function' || kind === undefined) [kind, callback] = [Z_FULL_FLUSH, kind];
    const flushing = () => this.#run(new Uint8Array(0), kind, (error) => (error ? this.destroy(error) : callback?.()));
    // Waits for earlier writes.
    if (this.writableLength > 0) this.once('drain', flushing);
    else process.nextTick(flushing);
  }
  reset() {
    const state = this.#state;
    this.#state = { ...state, codec: open(state.settings), over: false };
  }
  params(level, strategy, callback) {
    const state = this.#state;
    const same = state.settings.level === level && state.settings.strategy === strategy;
    if (same) return process.nextTick(callback);
    throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'a stream keeps its level and strategy here: make another one');
  }
  close(callback) {
    if (typeof callback === 'function') stream.finished(this, () => callback());
    this.destroy();
  }
  get _closed() {
    return this.destroyed;
  }
}

const kinds = ['Deflate', 'Inflate', 'Gzip', 'Gunzip', 'DeflateRaw', 'InflateRaw', 'Unzip', 'BrotliCompress', 'BrotliDecompress'];
const zlib = {
  crc32(data, value = 0) {
    const bytes = bytesOf(data, 'data');
    if (typeof value !== 'number') throw invalidType('value', 'number', value);
    if (!isWhole(value)) throw outOfRange('value', 'an integer', value);
    if (value < 0 || value > 0xffffffff) throw outOfRange('value', '>= 0 && <= 4294967295', value);
    return native.crc32(bytes, value);
  },
};
for (const kind of kinds) {
  const Class = { [kind]: class extends ZlibBase { constructor(options) { super(kind, options); } } }[kind];
  // As in Node, each class can be called without `new`.
  zlib[kind] = new Proxy(Class, { apply: (target, self, values) => new target(...values) });
  Object.defineProperty(Class.prototype, 'constructor', { value: zlib[kind], writable: true, configurable: true });
  const name = kind[0].toLowerCase() + kind.slice(1);
  zlib[`${name}Sync`] = { [`${name}Sync`]: (buffer, options) => convert(checked(kind, options), bytesOf(buffer, 'buffer')) }[`${name}Sync`];
  zlib[name] = {
    [name](buffer, options, callback) {
      if (typeof options === 'function') [options, callback] = [undefined, options];
      if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
      const settings = checked(kind, options);
      // A copy, because the buffer may change before the work begins.
      const bytes = bytesOf(buffer, 'buffer').slice();
      setImmediate(() => {
        let result;
        try {
          result = convert(settings, bytes);
        } catch (error) {
          return callback(error);
        }
        return callback(null, result);
      });
    },
  }[name];
  zlib[`create${kind}`] = { [`create${kind}`]: (options) => new Class(options) }[`create${kind}`];
}
Object.defineProperty(zlib, 'constants', { value: constants, enumerable: true });
Object.defineProperty(zlib, 'codes', { value: codes, enumerable: true });
for (const [name, value] of Object.entries(constants)) if (name !== 'BROTLI_DECODE' && name !== 'BROTLI_ENCODE') Object.defineProperty(zlib, name, { value });

const formats = { gzip: ['Gzip', 'Gunzip'], deflate: ['Deflate', 'Inflate'], 'deflate-raw': ['DeflateRaw', 'InflateRaw'] };
const transformOf = (format, at) => {
  if (!Object.hasOwn(formats, format)) {
    throw codedError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'format' must be one of: 'deflate', 'deflate-raw', 'gzip'. Received ${host.inspect(format)}`);
  }
  const settings = checked(formats[format][at], {});
  const codec = open(settings);
  let over = false;
  const run = (bytes, flush, controller) => {
    if (over) {
      if (bytes.length > 0 && at === 1) throw new TypeError('the compressed data ended before');
      return;
    }
    over = work(codec, settings, bytes, flush, (part) => controller.enqueue(part));
  };
  return new TransformStream({
    transform(chunk, controller) {
      const bytes = asBytes(chunk);
      if (bytes === undefined || typeof chunk === 'string') throw invalidType('chunk', 'an instance of Buffer, TypedArray, DataView, or ArrayBuffer', chunk);
      run(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, controller);
    },
    flush: (controller) => run(new Uint8Array(0), Z_FINISH, controller),
  });
};

const webStream = (name, at) => {
  const Class = {
    [name]: class {
      #stream;
      constructor(format) {
        this.#stream = transformOf(format, at);
      }
      get readable() {
        return this.#stream.readable;
      }
      get writable() {
        return this.#stream.writable;
      }
    },
  }[name];
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: name, configurable: true });
  return Class;
};
export const CompressionStream = webStream('CompressionStream', 0);
export const DecompressionStream = webStream('DecompressionStream', 1);

export default zlib;
