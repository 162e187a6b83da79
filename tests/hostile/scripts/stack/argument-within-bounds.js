// The deepest argument that is passed on. The gate checks it, and its error says what is invalid.
// status: failed
// error: argument
// calls: denied

let value = [];
for (let n = 0; n < 98; n++) value = [value];
await probe.length({ text: value });
