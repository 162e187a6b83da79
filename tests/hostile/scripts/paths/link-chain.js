// A chain of links, of which at most forty are followed.
// status: completed
// value: ["end", "ELOOP"]

const f = require('fs');
f.writeFileSync('l0', 'end');
for (let n = 1; n <= 100; n++) f.symlinkSync(`l${n - 1}`, `l${n}`);
const read = (path) => { try { return f.readFileSync(path, 'utf8') } catch (error) { return error.code } };
return [read('l30'), read('l100')];
