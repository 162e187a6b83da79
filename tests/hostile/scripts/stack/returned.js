// A value of nested lists, returned.
// status: failed
// error: exception
// message contains: nested more than

let value = [];
for (let n = 0; n < 200_000; n++) value = [value];
return value;
