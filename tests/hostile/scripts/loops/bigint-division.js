// A division that takes long, and its conversion to decimal digits.
// status: limited
// error: limit
// limits: wall = "400ms"

const n = 7n ** 200000n;
for (;;) String(n / 3n);
