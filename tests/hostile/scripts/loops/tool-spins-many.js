// Forty calls that never return, sixteen of which run at a time.
// status: limited
// error: limit
// message contains: time limit
// limits: wall = "400ms"

await Promise.all(Array.from({ length: 40 }, () => probe.spin({})));
