// A value of nested lists as an argument of a tool.
// status: failed

let value = [];
for (let n = 0; n < 200_000; n++) value = [value];
await probe.length({ text: value });
