// Endless directories, which count as files.
// status: limited
// error: limit

let n = 0;
try { for (;;) fs.mkdirSync(`d${n++}`) } catch (error) { return error.code }
