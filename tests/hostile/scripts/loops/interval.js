// A timer that repeats endlessly.
// status: limited
// error: limit
// message contains: while the script waited for 1 timer
// limits: wall = "400ms"

setInterval(() => {}, 50);
