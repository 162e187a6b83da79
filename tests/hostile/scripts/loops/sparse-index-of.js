// `indexOf` over four billion holes, which is a loop within the engine.
// status: limited
// error: limit
// limits: wall = "400ms"

const list = [];
list.length = 2 ** 32 - 1;
for (;;) list.indexOf(1);
