// Waiting for input that does not come.
// status: limited
// error: limit
// limits: wall = "600ms"

for (;;) await stdin.text();
