// Typed arrays of numbers.
// status: limited
// error: limit
// message contains: memory

const all = [];
for (;;) all.push(new Float64Array(1 << 17).fill(1));
