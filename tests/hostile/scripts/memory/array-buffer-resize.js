// A buffer that grows in place.
// status: limited
// error: limit
// message contains: memory

const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 30 });
for (let n = 8; ; n *= 2) buffer.resize(n);
