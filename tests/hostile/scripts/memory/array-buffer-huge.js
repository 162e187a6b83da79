// A single allocation beyond the limit on memory.
// status: limited
// error: limit
// message contains: memory

new ArrayBuffer(2 ** 31 - 1);
