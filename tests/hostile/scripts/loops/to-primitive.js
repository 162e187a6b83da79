// The same with `Symbol.toPrimitive`, as an argument of a function of the host's.
// status: limited
// error: limit
// message contains: fuel

await new Promise((r) => setTimeout(r, { [Symbol.toPrimitive]() { for (;;); } }));
