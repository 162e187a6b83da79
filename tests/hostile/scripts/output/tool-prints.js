// What a tool prints is no output of the script's.
// status: completed
// stdout: "after\n"
// calls: ok

await probe.print({ bytes: 4 << 20 });
console.log('after');
