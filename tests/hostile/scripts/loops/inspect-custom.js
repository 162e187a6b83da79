// What a value says of itself to `console.log` does not return.
// status: limited
// error: limit
// message contains: fuel

console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { for (;;); } });
