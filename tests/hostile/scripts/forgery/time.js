// The clock advances with the fuel of the script, and never goes back. A `Date` of the script has no effect on it.
// status: completed
// value: true

const before = Date.now();
let [n, last, steady] = [0, before, true];
for (let i = 0; i < 100_000; i++) {
  const now = Date.now();
  steady &&= now === last || now === last + 1;
  last = now;
  n += i;
}
return steady && last - before < 1000;
