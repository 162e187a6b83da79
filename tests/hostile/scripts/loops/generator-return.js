// A generator whose `return` does not return.
// status: limited
// error: limit
// message contains: fuel

function* all() { try { yield 1 } finally { for (;;); } }
for (const n of all()) break;
