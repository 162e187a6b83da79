// Many large numbers.
// status: limited
// error: limit
// message contains: memory

const all = [];
for (;;) all.push((1n << 1000000n) + BigInt(all.length));
