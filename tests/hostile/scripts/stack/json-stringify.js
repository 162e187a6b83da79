// Conversion of nested lists to JSON.
// status: failed
// error: exception

let value = [];
for (let n = 0; n < 200_000; n++) value = [value];
JSON.stringify(value);
