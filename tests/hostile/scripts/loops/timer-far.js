// A timer that is due in years.
// status: limited
// error: limit
// message contains: time limit
// limits: wall = "400ms"

await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1));
