// Inspection of nested lists.
// status: failed
// error: exception
// name: RangeError
// limits: fuel = 20000000

let value = [];
for (let n = 0; n < 100_000; n++) value = [value];
console.dir(value, { depth: null });
