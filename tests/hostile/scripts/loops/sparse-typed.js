// `copyWithin` on an object with the largest possible length, which is a loop within the engine.
// status: limited
// error: limit
// limits: wall = "400ms"

Array.prototype.copyWithin.call({ length: 2 ** 53 - 1, 0: 1 }, 1, 0);
