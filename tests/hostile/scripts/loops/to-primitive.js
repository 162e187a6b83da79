// `Symbol.toPrimitive` of an argument for a function of the host does not return.
// status: limited
// error: limit
// message contains: fuel

await new Promise((r) => setTimeout(r, { [Symbol.toPrimitive]() { for (;;); } }));
