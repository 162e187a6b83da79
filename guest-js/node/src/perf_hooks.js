// Marks and measures of `performance`: named points on the script's clock.
import { codedError } from './util.js';

class PerformanceEntry {
  constructor(entryType, name, startTime, duration, detail) {
    Object.assign(this, { name, entryType, startTime, duration, detail });
  }
  toJSON() {
    return { ...this };
  }
}

const entries = [];
const ordered = (wanted) => entries.filter(wanted).sort((a, b) => a.startTime - b.startTime);
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
    throw codedError(SyntaxError, 'ERR_INVALID_PERFORMANCE_MARK', `The "${mark}" performance mark has not been set`);
  };
  const added = {
    mark(name, { startTime = performance.now(), detail = null } = {}) {
      const entry = new PerformanceEntry('mark', String(name), startTime, 0, detail);
      entries.push(entry);
      return entry;
    },
    measure(name, from, to) {
      const { start, end, duration, detail = null } = from !== null && typeof from === 'object' ? from : { start: from, end: to };
      const last = end === undefined && duration !== undefined ? timeOf(start, 0) + duration : timeOf(end, performance.now());
      const first = start === undefined && duration !== undefined ? last - duration : timeOf(start, 0);
      const entry = new PerformanceEntry('measure', String(name), first, last - first, detail);
      entries.push(entry);
      return entry;
    },
    clearMarks: clear('mark'),
    clearMeasures: clear('measure'),
    getEntries: () => ordered(() => true),
    getEntriesByType: (type) => ordered(({ entryType }) => entryType === type),
    getEntriesByName: (name, type) => ordered((entry) => entry.name === name && (type === undefined || entry.entryType === type)),
  };
  for (const [name, value] of Object.entries(added)) Object.defineProperty(performance, name, { value, writable: true, enumerable: false, configurable: true });
};

export class PerformanceObserver {
  static supportedEntryTypes = [];
  constructor() {
    throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE', 'PerformanceObserver is not available in Tollhouse: use `performance.getEntries()`');
  }
}
