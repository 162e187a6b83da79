// Conversion of nested lists to text.
// status: failed
// error: exception
// name: RangeError

let value = [];
for (let n = 0; n < 100_000; n++) value = [value];
String(value);
