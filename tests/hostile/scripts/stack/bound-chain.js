// Functions that are bound repeatedly.
// status: limited
// error: limit

let f = () => 1;
for (let n = 0; n < 100_000; n++) f = f.bind(null);
f();
