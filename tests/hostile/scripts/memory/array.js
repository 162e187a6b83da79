// An endless list. Earlier output is kept.
// status: limited
// error: limit
// stdout: "before\n"

console.log('before');
const all = [];
for (;;) all.push(new Array(1000).fill(1));
