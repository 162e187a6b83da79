// A module that requires itself repeatedly with other names.
// status: failed
// error: exception
// name: RangeError

await fs.writeFile('a.cjs', "for (let n = 0; ; n++) { delete require.cache[__filename]; require('./a.cjs') }");
require('./a.cjs');
