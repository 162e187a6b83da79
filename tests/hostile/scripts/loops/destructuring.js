// An iterator without an end, taken apart.
// status: limited
// error: limit

const [...all] = { [Symbol.iterator]: () => ({ next: () => ({ value: 0, done: false }) }) };
