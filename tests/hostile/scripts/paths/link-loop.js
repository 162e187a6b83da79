// Links that refer to each other.
// status: completed
// value: ["ELOOP"]

const f = require('fs');
f.symlinkSync('b', 'a'); f.symlinkSync('a', 'b'); f.symlinkSync('self/self', 'self');
const codes = new Set();
for (const path of ['a', 'self', 'a/x', 'self/x'])
  for (const way of ['readFileSync', 'statSync', 'readdirSync', 'realpathSync'])
    try { f[way](path); codes.add(path) } catch (error) { codes.add(error.code) }
return [...codes];
