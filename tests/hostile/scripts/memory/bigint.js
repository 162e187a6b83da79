// A number whose digits double.
// status: failed
// error: exception
// name: RangeError

let n = 1n << 1000n;
for (;;) n <<= BigInt(1e7);
