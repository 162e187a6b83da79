// Endless calls of a tool. Those that were made are settled.
// status: limited
// error: limit
// limits: wall = "600ms"

for (;;) await probe.remember({});
