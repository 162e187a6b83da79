// A text that is split into characters, each of which is a value.
// status: limited
// error: limit

const all = [];
for (;;) all.push('x'.repeat(1e6).split(''));
