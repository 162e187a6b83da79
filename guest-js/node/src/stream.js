import stream from '../node_modules/readable-stream/lib/ours/index.js';

export default stream;
