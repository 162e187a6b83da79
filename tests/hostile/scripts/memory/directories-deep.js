// Nested directories.
// status: completed
// value: "ENAMETOOLONG"

let path = '';
try { for (;;) { path += 'd/'; fs.mkdirSync(path) } } catch (error) { return error.code }
