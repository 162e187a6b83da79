// Endless regular expressions with large compiled forms.
// status: limited
// error: limit

const all = [];
for (;;) all.push(new RegExp('(?:abcdefghij|klmnopqrst)'.repeat(4000) + all.length));
