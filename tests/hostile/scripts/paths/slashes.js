// Repeated slashes, and slashes at the end.
// status: completed
// value: ["x", "x", "ENOTDIR", "ENOTDIR", "ENOTDIR", "EISDIR", "ENOENT"]

const f = require('fs');
f.mkdirSync('d'); f.writeFileSync('d/f', 'x');
const read = (path) => { try { return f.readFileSync(path, 'utf8') } catch (error) { return error.code } };
return [read('d//f'), read('.//d/././/f'), read('d/f/'), read('d/f/.'), read('d/f/..'), read('d/'), read('')];
