import { StringDecoder } from '../node_modules/string_decoder/lib/string_decoder.js';

export default { StringDecoder };
