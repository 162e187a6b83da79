// A file that is said to be longer than any limit.
// status: completed
// value: "EFBIG"

await fs.writeFile('f', 'x');
try { require('fs').truncateSync('f', 2 ** 40) } catch (error) { return error.code }
