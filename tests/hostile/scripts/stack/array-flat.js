// A list that holds itself, made flat.
// status: failed
// error: exception
// name: RangeError

const list = [];
list.push(list, list);
list.flat(Infinity);
