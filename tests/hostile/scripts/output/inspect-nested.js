// Inspection of a value that is wide and deep.
// status: limited
// error: limit

let value = {};
for (let n = 0; n < 10; n++) value = Object.fromEntries(Array.from({ length: 10 }, (_, m) => ['k' + m, value]));
console.dir(value, { depth: null });
