// A link to a read-only or missing path, which grants no access to it.
// status: completed
// value: ["ENOENT", "EACCES", "ENOENT"]

const f = require('fs');
f.symlinkSync('/etc', 'etc'); f.symlinkSync('/workspace/data', 'data2'); f.symlinkSync('../../../../etc/passwd', 'passwd');
const codes = [];
for (const path of ['etc/x', 'data2/x', 'passwd']) try { f.writeFileSync(path, 'x'); codes.push(path) } catch (error) { codes.push(error.code) }
return codes;
