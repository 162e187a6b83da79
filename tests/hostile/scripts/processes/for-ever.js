// One script after another, for ever: their fuel is the run's.
// status: limited
// error: limit

for (;;) await shell('for i in 1 2 3 4 5 6 7 8 9; do :; done');
