// A list that contains itself, flattened.
// status: failed
// error: exception
// name: RangeError

const list = [];
list.push(list, list);
list.flat(Infinity);
