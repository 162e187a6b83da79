// A long chain of prototypes, which is traversed without recursion.
// status: completed
// value: true
// limits: memory = "64MiB"

let o = {};
for (let n = 0; n < 100_000; n++) o = Object.create(o);
return o.nothing === undefined;
