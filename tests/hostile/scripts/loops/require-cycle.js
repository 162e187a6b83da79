// Modules that require each other. Each gets the exports of the other one so far.
// status: completed
// value: 1

await fs.writeFile('a.cjs', "exports.early = 1; exports.late = require('./b.cjs').seen");
await fs.writeFile('b.cjs', "exports.seen = require('./a.cjs').early");
return require('./a.cjs').late;
