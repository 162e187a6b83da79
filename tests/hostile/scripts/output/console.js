// Output beyond its limit: what fits is kept.
// status: limited
// error: limit
// message contains: output limit of 1048576 bytes
// stdout bytes: 1048576

for (;;) console.log('x'.repeat(1023));
