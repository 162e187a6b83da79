// The same at once.
// status: limited
// error: limit
// message contains: output limit
// stdout bytes: 1048576

console.log('x'.repeat(8 << 20));
