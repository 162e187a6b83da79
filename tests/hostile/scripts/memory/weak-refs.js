// References that hold nothing, to things that are held.
// status: limited
// error: limit

const all = [], weak = new WeakMap();
for (;;) { const key = {}; weak.set(key, new Array(1000).fill(1)); all.push(key) }
