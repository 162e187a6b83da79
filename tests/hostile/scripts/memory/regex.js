// An expression that is a megabyte long, in lists.
// status: limited
// error: limit

const all = [];
for (;;) all.push(new RegExp('(?:abcdefghij|klmnopqrst)'.repeat(4000) + all.length));
