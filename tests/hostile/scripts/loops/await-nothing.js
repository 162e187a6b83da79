// Waiting for nothing, for ever: microtasks only.
// status: limited
// error: limit

for (;;) await null;
