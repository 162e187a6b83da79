// Endless output on standard error.
// status: limited
// error: limit
// message contains: output limit
// stdout: ""

for (;;) console.error('x'.repeat(1023));
