// A NUL in a name is an error, and does not denote another name.
// status: completed
// value: [[], ["a", "data"]]

const f = require('fs');
f.writeFileSync('a', 'a');
const went = [];
for (const path of ['a\0b', '\0', 'a\0']) for (const way of ['readFileSync', 'writeFileSync', 'mkdirSync', 'unlinkSync'])
  try { f[way](path, 'x'); went.push([path, way]) } catch {}
return [went, f.readdirSync('.').sort()];
