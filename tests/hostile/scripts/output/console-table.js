// A table with many rows, which takes more space than its values.
// status: limited
// error: limit

console.table(Array.from({ length: 20_000 }, (_, n) => ({ [`c${n % 50}`]: n })));
