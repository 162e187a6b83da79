// `string_decoder`: a library, with the check of encodings.
import { StringDecoder as Decoder } from '../node_modules/string_decoder/lib/string_decoder.js';
import { Buffer } from './buffer.js';
import { codedError, invalidType } from './util.js';

const checked = (encoding) => {
  if (encoding == null || Buffer.isEncoding(encoding)) return encoding;
  throw codedError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
};

class StringDecoder extends Decoder {
  constructor(encoding) {
    super(checked(encoding));
  }
  write(bytes) {
    if (typeof bytes !== 'string' && !ArrayBuffer.isView(bytes)) throw invalidType('buf', 'an instance of Buffer, TypedArray, or DataView', bytes);
    return super.write(typeof bytes === 'string' || Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  end(bytes) {
    const text = super.end(bytes);
    // A decoder can be used again; the library keeps what was left of the last character.
    if (this.lastNeed !== undefined) this.lastNeed = this.lastTotal = 0;
    return text;
  }
}

export default { StringDecoder };
