// The clock advances with what the script uses, and never goes back; the script's own `Date` is its own.
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
