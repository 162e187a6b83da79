// An endless asynchronous generator.
// status: limited
// error: limit

async function* all() { for (;;) yield 1 }
for await (const n of all());
