// A small value of the script with a long JSON text.
// status: limited
// error: limit

let value = ['x'.repeat(1000)];
for (let n = 0; n < 40; n++) value = [value, value];
return value;
