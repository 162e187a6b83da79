// The output of a tool is not output of the script.
// status: completed
// stdout: "after\n"
// calls: ok

await probe.print({ bytes: 4 << 20 });
console.log('after');
