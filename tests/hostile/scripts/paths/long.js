// A name of 256 bytes, and a path that is too long.
// status: completed
// value: ["ENAMETOOLONG", "ENAMETOOLONG", "ENAMETOOLONG", "ENAMETOOLONG"]

const f = require('fs');
const codes = [];
f.writeFileSync('x'.repeat(255), 'fits');
for (const path of ['x'.repeat(256), 'é'.repeat(128), 'a/'.repeat(5000), 'x'.repeat(1e6)]) try { f.writeFileSync(path, ''); codes.push(path.length) } catch (error) { codes.push(error.code) }
return codes;
