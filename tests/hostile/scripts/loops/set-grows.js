// A set that grows during its iteration.
// status: limited
// error: limit

const set = new Set([1]);
for (const n of set) { set.delete(n); set.add(n) }
