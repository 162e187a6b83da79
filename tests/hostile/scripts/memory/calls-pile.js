// Endless calls without `await`. They wait for a free slot until the memory limit ends the run.
// status: limited
// error: limit

for (;;) probe.sleep({ millis: 1 });
