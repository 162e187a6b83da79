// The same, of an object that says it is as long as a number can say.
// status: limited
// error: limit
// limits: wall = "400ms"

Array.prototype.reverse.call({ length: 2 ** 53 - 1 });
