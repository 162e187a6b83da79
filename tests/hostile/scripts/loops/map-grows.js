// A map that grows during its iteration.
// status: limited
// error: limit

const map = new Map([[0, 0]]);
map.forEach((_, key) => { map.delete(key); map.set(key + 1, 0) });
