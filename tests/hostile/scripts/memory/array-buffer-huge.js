// More memory at once than there is.
// status: limited
// error: limit
// message contains: memory

new ArrayBuffer(2 ** 31 - 1);
