// The same with Node's `Buffer`.
// status: limited
// error: limit

const all = [];
for (;;) all.push(Buffer.alloc(1 << 20, 1));
