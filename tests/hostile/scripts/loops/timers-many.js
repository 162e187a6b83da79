// A hundred thousand timers at once.
// status: limited
// error: limit
// limits: wall = "1s"

for (let n = 0; n < 100_000; n++) setTimeout(() => {}, 1e8);
await new Promise(() => {});
