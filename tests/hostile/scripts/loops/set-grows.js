// A set that is added to while it is walked.
// status: limited
// error: limit

const set = new Set([1]);
for (const n of set) { set.delete(n); set.add(n) }
