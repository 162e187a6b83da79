// A value of nested lists.
// status: limited
// error: limit

let value = [];
for (let n = 0; n < 200_000; n++) value = [value];
JSON.stringify(value);
