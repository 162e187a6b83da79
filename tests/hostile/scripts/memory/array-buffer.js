// Endless buffers.
// status: limited
// error: limit
// message contains: memory

const all = [];
for (;;) all.push(new ArrayBuffer(1 << 20));
