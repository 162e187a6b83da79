// `reverse` of an object with the largest possible length, which is a loop within the engine.
// status: limited
// error: limit
// limits: wall = "400ms"

Array.prototype.reverse.call({ length: 2 ** 53 - 1 });
