// `stream/consumers`: reads a whole stream as one value.
import { Buffer } from './buffer.js';
import { Blob } from './web.js';

const buffer = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(typeof part === 'string' ? Buffer.from(part) : part);
  return Buffer.concat(parts);
};
const text = async (stream) => {
  const decoder = new TextDecoder();
  let all = '';
  for await (const part of stream) all += typeof part === 'string' ? part : decoder.decode(part, { stream: true });
  return all + decoder.decode();
};

export default {
  arrayBuffer: async (stream) => new Uint8Array(await buffer(stream)).buffer,
  blob: async (stream) => new Blob([await buffer(stream)]),
  buffer,
  json: async (stream) => JSON.parse(await text(stream)),
  text,
};
