// Generators that wait.
// status: limited
// error: limit

const all = [];
function* one() { const weight = new Array(100).fill(0); yield weight }
for (;;) { const g = one(); g.next(); all.push(g) }
