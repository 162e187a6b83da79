// Directories without end: they count, too.
// status: limited
// error: limit

let n = 0;
try { for (;;) fs.mkdirSync(`d${n++}`) } catch (error) { return error.code }
