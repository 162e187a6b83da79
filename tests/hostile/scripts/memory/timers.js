// Endless timers that hold large values.
// status: limited
// error: limit

for (let n = 0; ; n++) setTimeout(() => n, 1e9, new Array(1000).fill(n));
