// A timer that comes again and again.
// status: limited
// error: limit
// message contains: time limit
// limits: wall = "400ms"

setInterval(() => {}, 1);
