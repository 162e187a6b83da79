// `worker_threads`: a script is the main thread, and there are no others.
import { codedError } from './util.js';

const environment = new Map();

class Worker {
  constructor() {
    throw codedError(
      Error,
      'ERR_FEATURE_UNAVAILABLE',
      'Worker is not available in Tollhouse: a script is one thread. Use `await Promise.all(…)` for calls that wait, and `spawn("node", [file])` of `child_process` for a script of its own',
    );
  }
}

export default {
  isMainThread: true,
  isInternalThread: false,
  parentPort: null,
  workerData: null,
  threadId: 0,
  resourceLimits: {},
  SHARE_ENV: Symbol.for('nodejs.worker_threads.SHARE_ENV'),
  Worker,
  markAsUntransferable() {},
  getEnvironmentData: (key) => environment.get(key),
  setEnvironmentData: (key, value) => void (value === undefined ? environment.delete(key) : environment.set(key, value)),
};
