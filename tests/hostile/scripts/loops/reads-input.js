// Waiting for input that never arrives.
// status: limited
// error: limit
// limits: wall = "600ms"

for (;;) await stdin.text();
