// A tool that never returns: the run's time ends it, and the call is on record.
// status: limited
// error: limit
// stdout: "before\n"
// calls: cancelled
// message contains: time limit
// limits: wall = "400ms"

console.log('before');
await probe.spin({});
