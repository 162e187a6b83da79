// `performance`: marks and measures, which are named points on the script's clock, functions whose calls are timed,
// observers of these, and how long the script has waited.
import { codedError, illegalConstructor, inspect, invalidType } from './util.js';

const { native } = host;

// True while this module makes an object that scripts cannot make.
let isMaking = false;
const make = (work) => {
  isMaking = true;
  try {
    return work();
  } finally {
    isMaking = false;
  }
};
const checkMaking = () => {
  if (!isMaking) throw illegalConstructor();
};

export class PerformanceEntry {
  constructor(entryType, name, startTime, duration, detail) {
    checkMaking();
    Object.assign(this, { name, entryType, startTime, duration, detail });
  }
  toJSON() {
    return { ...this };
  }
  [inspect.custom](depth, options) {
    if (depth < 0) return this;
    const inner = { ...options, depth: options.depth == null ? null : options.depth - 1 };
    return `${this.constructor.name} ${inspect(this.toJSON(), inner)}`;
  }
}
export class PerformanceMark extends PerformanceEntry {
  constructor(name, options) {
    if (name === undefined) throw missingName();
    if (options != null && typeof options !== 'object') throw invalidType('options', 'object', options);
    const { startTime = now(), detail = null } = options ?? {};
    if (typeof startTime !== 'number') throw invalidType('startTime', 'number', startTime);
    if (startTime < 0) throw codedError(TypeError, 'ERR_PERFORMANCE_INVALID_TIMESTAMP', `${startTime} is not a valid timestamp`);
    make(() => super('mark', `${name}`, startTime, 0, detail === null ? null : structuredClone(detail)));
  }
}
export class PerformanceMeasure extends PerformanceEntry {}
export class PerformanceResourceTiming extends PerformanceEntry {}
const missingName = () => codedError(TypeError, 'ERR_MISSING_ARGS', 'The "name" argument must be specified');

const entries = [];
const ordered = (wanted) => entries.filter(wanted).sort((a, b) => a.startTime - b.startTime);
// Types of entries that observers can wait for.
const SUPPORTED = ['function', 'mark', 'measure'];
const observers = new Set();
export class PerformanceObserverEntryList {
  #entries;
  constructor(found) {
    checkMaking();
    this.#entries = found.sort((a, b) => a.startTime - b.startTime);
  }
  getEntries() {
    return [...this.#entries];
  }
  getEntriesByType(type) {
    return this.#entries.filter(({ entryType }) => entryType === type);
  }
  getEntriesByName(name, type) {
    return this.#entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }
}

export class PerformanceObserver {
  static supportedEntryTypes = Object.freeze([...SUPPORTED]);
  #callback;
  #types = new Set();
  #found = [];
  #isQueued = false;
  constructor(callback) {
    if (typeof callback !== 'function') throw invalidType('callback', 'function', callback);
    this.#callback = callback;
  }
  observe(options = {}) {
    if (options === null || typeof options !== 'object') throw invalidType('options', 'object', options);
    const { entryTypes, type, buffered } = options;
    if (entryTypes === undefined && type === undefined) {
      throw codedError(TypeError, 'ERR_MISSING_ARGS', 'The "options.entryTypes" and "options.type" arguments must be specified');
    }
    const wanted = entryTypes ?? [type];
    const other = wanted.find((name) => !SUPPORTED.includes(name));
    if (other !== undefined) {
      throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', `PerformanceObserver sees only ${SUPPORTED.join(', ')} in Tollhouse, not ${other}`);
    }
    if (entryTypes !== undefined) this.#types.clear();
    for (const name of wanted) this.#types.add(name);
    observers.add(this);
    if (type !== undefined && buffered) for (const entry of entries) if (entry.entryType === type) this.notice(entry);
  }
  disconnect() {
    observers.delete(this);
    this.#types.clear();
    this.#found = [];
  }
  takeRecords() {
    return this.#found.splice(0);
  }
  // Keeps an entry for the callback, which gets all of a turn at once.
  notice(entry) {
    if (!this.#types.has(entry.entryType)) return;
    this.#found.push(entry);
    if (this.#isQueued) return;
    this.#isQueued = true;
    setImmediate(() => {
      this.#isQueued = false;
      if (this.#found.length > 0) this.#callback(make(() => new PerformanceObserverEntryList(this.takeRecords())), this);
    });
  }
}
const notice = (entry) => {
  for (const observer of observers) observer.notice(entry);
};
const keep = (entry) => {
  entries.push(entry);
  notice(entry);
  return entry;
};
const clear = (type, name) => {
  for (let at = entries.length - 1; at >= 0; at--) {
    if (entries[at].entryType === type && (name === undefined || entries[at].name === `${name}`)) entries.splice(at, 1);
  }
};
const timeOf = (mark, standard) => {
  if (mark === undefined) return standard;
  if (typeof mark === 'number') return mark;
  const found = entries.findLast(({ entryType, name }) => entryType === 'mark' && name === mark);
  if (found !== undefined) return found.startTime;
  throw new DOMException(`The "${mark}" performance mark has not been set`, 'SyntaxError');
};

// Times of the script, in milliseconds: while it waited for something, and while it ran.
const times = () => {
  const idle = native.idle();
  return { idle, active: Math.max(performance.now() - idle, 0) };
};
// The original function, which a script cannot replace.
const { now } = globalThis.performance;

export class Performance extends EventTarget {
  constructor() {
    checkMaking();
    super();
  }
  get timeOrigin() {
    return host.scriptStart();
  }
  now() {
    return now();
  }
  mark(name, options) {
    return keep(new PerformanceMark(name, options));
  }
  measure(name, from, to) {
    if (name === undefined) throw missingName();
    const { start, end, duration, detail = null } = from !== null && typeof from === 'object' ? from : { start: from, end: to };
    const last = end === undefined && duration !== undefined ? timeOf(start, 0) + duration : timeOf(end, now());
    const first = start === undefined && duration !== undefined ? last - duration : timeOf(start, 0);
    const kept = detail === null ? null : structuredClone(detail);
    return keep(make(() => new PerformanceMeasure('measure', `${name}`, first, last - first, kept)));
  }
  clearMarks(name) {
    clear('mark', name);
  }
  clearMeasures(name) {
    clear('measure', name);
  }
  getEntries() {
    return ordered(() => true);
  }
  getEntriesByType(type) {
    return ordered(({ entryType }) => entryType === type);
  }
  getEntriesByName(name, type) {
    return ordered((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }
  // A request is a call of a tool, which has no timing of resources.
  clearResourceTimings() {}
  setResourceTimingBufferSize() {}
  eventLoopUtilization(later, earlier) {
    const current = earlier === undefined ? times() : later;
    const since = earlier ?? later ?? { idle: 0, active: 0 };
    const [idle, active] = [current.idle - since.idle, current.active - since.active];
    return { idle, active, utilization: idle + active > 0 ? active / (idle + active) : 0 };
  }
  get nodeTiming() {
    const start = { nodeStart: 0, v8Start: 0, environment: 0, bootstrapComplete: 0, loopStart: 0, loopExit: -1 };
    return { name: 'node', entryType: 'node', startTime: 0, duration: now(), ...start, idleTime: native.idle() };
  }
  // Returns a function that calls another one and tells observers how long that took.
  timerify(work, options = {}) {
    if (typeof work !== 'function') throw invalidType('fn', 'function', work);
    if (options === null || typeof options !== 'object') throw invalidType('options', 'object', options);
    const { histogram } = options;
    if (histogram !== undefined && typeof histogram?.record !== 'function') throw invalidType('options.histogram', 'an instance of RecordableHistogram', histogram);
    const tell = (start, values) => {
      const duration = now() - start;
      histogram?.record(Math.max(Math.ceil(duration * 1e6), 1));
      notice(make(() => new PerformanceEntry('function', work.name, start, duration, values)));
    };
    function timerified(...values) {
      const start = now();
      const result = new.target ? Reflect.construct(work, values, work) : Reflect.apply(work, this, values);
      if (typeof result?.finally === 'function') return result.finally(() => tell(start, values));
      tell(start, values);
      return result;
    }
    return Object.defineProperties(timerified, {
      length: { value: work.length, configurable: true },
      name: { value: `timerified ${work.name}`, configurable: true },
    });
  }
  toJSON() {
    return { nodeTiming: this.nodeTiming, timeOrigin: this.timeOrigin, eventLoopUtilization: this.eventLoopUtilization() };
  }
}
Object.defineProperty(Performance.prototype, Symbol.toStringTag, { value: 'Performance', configurable: true });

export const makePerformance = () => make(() => new Performance());

export const monitorEventLoopDelay = () => {
  throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'the delay of the event loop is not measured here: use performance.eventLoopUtilization(), or createHistogram() and performance.now()');
};

export const constants = Object.freeze({
  NODE_PERFORMANCE_GC_MAJOR: 4, NODE_PERFORMANCE_GC_MINOR: 1, NODE_PERFORMANCE_GC_INCREMENTAL: 8, NODE_PERFORMANCE_GC_WEAKCB: 16,
  NODE_PERFORMANCE_GC_FLAGS_NO: 0, NODE_PERFORMANCE_GC_FLAGS_CONSTRUCT_RETAINED: 2, NODE_PERFORMANCE_GC_FLAGS_FORCED: 4,
  NODE_PERFORMANCE_GC_FLAGS_SYNCHRONOUS_PHANTOM_PROCESSING: 8, NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE: 16,
  NODE_PERFORMANCE_GC_FLAGS_ALL_EXTERNAL_MEMORY: 32, NODE_PERFORMANCE_GC_FLAGS_SCHEDULE_IDLE: 64,
});
