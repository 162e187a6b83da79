// Endless buffers of Node's class `Buffer`.
// status: limited
// error: limit

const all = [];
for (;;) all.push(Buffer.alloc(1 << 20, 1));
