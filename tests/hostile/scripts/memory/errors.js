// Errors with their stacks.
// status: limited
// error: limit

const all = [];
const deep = (n) => { if (n === 0) all.push(new Error('x'.repeat(1000))); else deep(n - 1) };
for (;;) deep(50);
