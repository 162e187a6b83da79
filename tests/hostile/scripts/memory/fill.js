// One list as long as lists can be.
// status: limited
// error: limit
// message contains: memory
// limits: memory = "64MiB"

new Array(2 ** 32 - 1).fill(0);
