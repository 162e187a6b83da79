// A list with the largest possible length.
// status: limited
// error: limit
// message contains: memory
// limits: memory = "64MiB"

new Array(2 ** 32 - 1).fill(0);
