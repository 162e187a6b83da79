// A loop whose condition is always true.
// status: limited
// error: limit

let n = 0;
do { n = (n + 1) | 0 } while (n === n);
