// `string_decoder`: a library, with the check of encodings.
import { StringDecoder as Decoder } from '../node_modules/string_decoder/lib/string_decoder.js';
import { Buffer } from './buffer.js';
import { codedError } from './util.js';

const checked = (encoding) => {
  if (encoding == null || Buffer.isEncoding(encoding)) return encoding;
  throw codedError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
};

class StringDecoder extends Decoder {
  constructor(encoding) {
    super(checked(encoding));
  }
}

export default { StringDecoder };
