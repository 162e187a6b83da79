// Clones that contain clones.
// status: limited
// error: limit

let value = { a: 'x'.repeat(1e5) };
for (;;) value = structuredClone({ a: value, b: value, c: new Array(1000).fill(1) });
