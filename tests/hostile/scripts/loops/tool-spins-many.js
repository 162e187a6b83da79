// Forty calls that never return. Sixteen of them run concurrently.
// status: limited
// error: limit
// message contains: time limit
// limits: wall = "400ms"

await Promise.all(Array.from({ length: 40 }, () => probe.spin({})));
