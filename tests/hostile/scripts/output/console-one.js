// Output beyond its limit in a single call. The part up to the limit is kept.
// status: limited
// error: limit
// message contains: output limit
// stdout bytes: 1048576

console.log('x'.repeat(8 << 20));
