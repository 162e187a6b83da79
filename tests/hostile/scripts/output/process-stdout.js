// Output beyond its limit by `process.stdout`. The part up to the limit is kept.
// status: limited
// error: limit
// message contains: output limit
// stdout bytes: 1048576

for (;;) process.stdout.write('x'.repeat(1024));
