// An asynchronous generator without an end.
// status: limited
// error: limit

async function* all() { for (;;) yield 1 }
for await (const n of all());
