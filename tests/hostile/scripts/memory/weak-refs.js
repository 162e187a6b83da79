// A weak map whose keys are all retained.
// status: limited
// error: limit

const all = [], weak = new WeakMap();
for (;;) { const key = {}; weak.set(key, new Array(1000).fill(1)); all.push(key) }
