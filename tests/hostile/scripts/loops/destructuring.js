// Destructuring of an endless iterator.
// status: limited
// error: limit

const [...all] = { [Symbol.iterator]: () => ({ next: () => ({ value: 0, done: false }) }) };
