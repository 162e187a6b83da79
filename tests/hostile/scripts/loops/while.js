// An endless loop. Earlier output is kept.
// status: limited
// error: limit
// stdout: "before\n"
// message contains: fuel

console.log('before');
while (true) {}
