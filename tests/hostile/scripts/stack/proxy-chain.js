// Nested proxies with a depth of a hundred thousand.
// status: failed
// error: exception
// name: RangeError

let p = {};
for (let n = 0; n < 100_000; n++) p = new Proxy(p, {});
p.a;
