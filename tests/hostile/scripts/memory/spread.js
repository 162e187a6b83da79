// A list that is spread into itself.
// status: limited
// error: limit

let list = [1];
for (;;) list = [...list, ...list];
