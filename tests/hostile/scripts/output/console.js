// Output beyond its limit. The part up to the limit is kept.
// status: limited
// error: limit
// message contains: output limit of 1048576 bytes
// stdout bytes: 1048576

for (;;) console.log('x'.repeat(1023));
