// Calls that nobody waits for: as many as there are wait, and memory ends it.
// status: limited
// error: limit

for (;;) probe.sleep({ millis: 1 });
