// `v8`: the format of `serialize`, and figures about memory in the form of V8's.
import { allAbsent } from './absent.js';
import { codedError, invalidType } from './util.js';
import { Reader, Writer } from './v8-format.js';

const { native } = host;

export const serialize = (value) => {
  const writer = new Writer();
  writer.write(value);
  return writer.finish();
};
export const deserialize = (buffer) => {
  if (!ArrayBuffer.isView(buffer)) throw codedError(TypeError, 'ERR_INVALID_ARG_TYPE', 'buffer must be a TypedArray or a DataView');
  return new Reader(buffer).read();
};

// The engine has one heap, whose limit is that of the run.
export const getHeapStatistics = () => {
  const [used, limit] = [native.memoryUsed(), native.memoryLimit()];
  return {
    total_heap_size: used,
    total_heap_size_executable: 0,
    total_physical_size: used,
    total_available_size: Math.max(limit - used, 0),
    used_heap_size: used,
    heap_size_limit: limit,
    malloced_memory: 0,
    peak_malloced_memory: 0,
    does_zap_garbage: 0,
    number_of_native_contexts: 1,
    number_of_detached_contexts: 0,
    total_global_handles_size: 0,
    used_global_handles_size: 0,
    external_memory: 0,
  };
};
export const getHeapSpaceStatistics = () => {
  const [used, limit] = [native.memoryUsed(), native.memoryLimit()];
  return [{ space_name: 'new_space', space_size: used, space_used_size: used, space_available_size: Math.max(limit - used, 0), physical_space_size: used }];
};
export const getHeapCodeStatistics = () => ({ code_and_metadata_size: 0, bytecode_and_metadata_size: 0, external_script_source_size: 0, cpu_profiler_metadata_size: 0 });
export const cachedDataVersionTag = () => 1;
// Flags of V8 have no effect on another engine.
export const setFlagsFromString = (flags) => {
  if (typeof flags !== 'string') throw invalidType('flags', 'string', flags);
};

const ABSENT = ['DefaultDeserializer', 'DefaultSerializer', 'Deserializer', 'GCProfiler', 'Serializer', 'getHeapSnapshot', 'queryObjects', 'setHeapSnapshotNearHeapLimit', 'stopCoverage', 'takeCoverage', 'writeHeapSnapshot'];

export default {
  cachedDataVersionTag,
  getHeapStatistics,
  getHeapSpaceStatistics,
  getHeapCodeStatistics,
  setFlagsFromString,
  deserialize,
  serialize,
  ...allAbsent('v8', ABSENT, 'the engine is QuickJS. Use `serialize` and `deserialize`, and `getHeapStatistics`'),
};
