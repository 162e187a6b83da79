// A list that grows during its iteration.
// status: limited
// error: limit

const list = [1];
for (const n of list) list.push(n);
