// A custom inspection function, called by `console.log`, that does not return.
// status: limited
// error: limit
// message contains: fuel

console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { for (;;); } });
