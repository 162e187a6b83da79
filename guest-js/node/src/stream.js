import { absent } from './absent.js';
import stream from '../node_modules/readable-stream/lib/ours/index.js';

stream.duplexPair = absent('stream', 'duplexPair', 'use two PassThrough streams, and Duplex.from({ readable, writable })');
export default stream;
