// Marks and measures of `performance`, named points on the script's clock, and observers of them.
import { codedError, invalidType } from './util.js';

export class PerformanceEntry {
  constructor(entryType, name, startTime, duration, detail) {
    Object.assign(this, { name, entryType, startTime, duration, detail });
  }
  toJSON() {
    return { ...this };
  }
}

const entries = [];
const ordered = (wanted) => entries.filter(wanted).sort((a, b) => a.startTime - b.startTime);
// Types of entries that observers can wait for.
const SUPPORTED = ['mark', 'measure'];
const observers = new Set();
const listOf = (found) => {
  const list = found.sort((a, b) => a.startTime - b.startTime);
  return {
    getEntries: () => [...list],
    getEntriesByType: (type) => list.filter(({ entryType }) => entryType === type),
    getEntriesByName: (name, type) => list.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type)),
  };
};

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
      throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', `PerformanceObserver sees only ${SUPPORTED.join(' and ')} in Tollhouse, not ${other}`);
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
      if (this.#found.length > 0) this.#callback(listOf(this.takeRecords()), this);
    });
  }
}
const keep = (entry) => {
  entries.push(entry);
  for (const observer of observers) observer.notice(entry);
  return entry;
};
const clear = (type) => (name) => {
  for (let at = entries.length - 1; at >= 0; at--) {
    if (entries[at].entryType === type && (name === undefined || entries[at].name === name)) entries.splice(at, 1);
  }
};

export const addMarks = (performance) => {
  const timeOf = (mark, standard) => {
    if (mark === undefined) return standard;
    if (typeof mark === 'number') return mark;
    const found = entries.findLast(({ entryType, name }) => entryType === 'mark' && name === mark);
    if (found !== undefined) return found.startTime;
    throw new DOMException(`The "${mark}" performance mark has not been set`, 'SyntaxError');
  };
  const added = {
    mark(name, { startTime = performance.now(), detail = null } = {}) {
      return keep(new PerformanceEntry('mark', String(name), startTime, 0, detail));
    },
    measure(name, from, to) {
      const { start, end, duration, detail = null } = from !== null && typeof from === 'object' ? from : { start: from, end: to };
      const last = end === undefined && duration !== undefined ? timeOf(start, 0) + duration : timeOf(end, performance.now());
      const first = start === undefined && duration !== undefined ? last - duration : timeOf(start, 0);
      return keep(new PerformanceEntry('measure', String(name), first, last - first, detail));
    },
    clearMarks: clear('mark'),
    clearMeasures: clear('measure'),
    getEntries: () => ordered(() => true),
    getEntriesByType: (type) => ordered(({ entryType }) => entryType === type),
    getEntriesByName: (name, type) => ordered((entry) => entry.name === name && (type === undefined || entry.entryType === type)),
  };
  for (const [name, value] of Object.entries(added)) Object.defineProperty(performance, name, { value, writable: true, enumerable: false, configurable: true });
};

