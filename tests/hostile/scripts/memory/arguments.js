// As many arguments as there are numbers.
// status: failed
// error: exception
// name: RangeError

let list = new Array(1e6).fill(1);
for (;;) { Math.max(...list); list = list.concat(list) }
