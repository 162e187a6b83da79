// A tool that never returns. The time limit of the run ends it, and the call is recorded.
// status: limited
// error: limit
// stdout: "before\n"
// calls: cancelled
// message contains: time limit
// limits: wall = "400ms"

console.log('before');
await probe.spin({});
