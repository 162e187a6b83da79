// A multiplication that takes hours.
// status: failed
// error: exception
// name: RangeError

let n = 3n;
for (;;) n = n * n;
