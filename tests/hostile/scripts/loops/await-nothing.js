// Endless microtasks that wait for nothing.
// status: limited
// error: limit

for (;;) await null;
