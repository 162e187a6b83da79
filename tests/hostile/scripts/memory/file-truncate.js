// A file that is extended beyond any limit.
// status: completed
// value: "EFBIG"

await fs.writeFile('f', 'x');
try { require('fs').truncateSync('f', 2 ** 40) } catch (error) { return error.code }
