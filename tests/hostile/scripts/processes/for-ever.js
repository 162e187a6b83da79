// Endless successive scripts, which share the fuel of the run.
// status: limited
// error: limit

for (;;) await shell('for i in 1 2 3 4 5 6 7 8 9; do :; done');
