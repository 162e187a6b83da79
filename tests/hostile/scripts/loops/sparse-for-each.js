// Four billion holes: a loop of the engine's own.
// status: limited
// error: limit
// limits: wall = "400ms"

const list = [];
list.length = 2 ** 32 - 1;
list.forEach(() => {});
