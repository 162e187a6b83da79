// The same with `process.stdout`.
// status: limited
// error: limit
// message contains: output limit
// stdout bytes: 1048576

for (;;) process.stdout.write('x'.repeat(1024));
