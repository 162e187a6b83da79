// A file beyond the limit on files is an error with a code, and a smaller file fits.
// status: completed
// value: ["EDQUOT", "fits"]
// limits: memory = "64MiB"

const codes = [];
try { await fs.writeFile('large', 'x'.repeat(17 << 20)) } catch (error) { codes.push(error.code) }
await fs.writeFile('small', 'fits');
return [...codes, await fs.readFile('small')];
