// The deepest that is passed on: the gate judges it, and says what does not fit.
// status: failed
// error: argument
// calls: denied

let value = [];
for (let n = 0; n < 98; n++) value = [value];
await probe.length({ text: value });
