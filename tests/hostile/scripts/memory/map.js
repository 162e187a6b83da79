// An endless map.
// status: limited
// error: limit

const map = new Map();
for (let n = 0; ; n++) map.set(n, { n });
