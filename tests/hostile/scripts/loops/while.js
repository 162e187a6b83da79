// A loop without an end; what it wrote before is kept.
// status: limited
// error: limit
// stdout: "before\n"
// message contains: fuel

console.log('before');
while (true) {}
