// Functions that are created from text.
// status: limited
// error: limit

const all = [];
for (;;) all.push(new Function('return ' + '1 + '.repeat(1000) + all.length));
