// A call with an ever larger number of arguments.
// status: limited
// error: limit
// name: LimitError

let list = new Array(1e6).fill(1);
for (;;) { Math.max(...list); list = list.concat(list) }
