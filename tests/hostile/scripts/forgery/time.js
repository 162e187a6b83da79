// The clock is the host's, within a step; the script's own `Date` is its own.
// status: completed
// value: true

const before = Date.now();
let n = 0;
for (let i = 0; i < 100_000; i++) n += i;
return Date.now() === before;
