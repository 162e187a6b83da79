// The limit on output is not an exception, so that it cannot be caught.
// status: limited
// error: limit
// message contains: output limit
// stdout bytes: 1048576

for (;;) try { console.log('x'.repeat(1023)) } catch {}
