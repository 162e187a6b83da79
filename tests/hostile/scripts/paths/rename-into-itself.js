// A directory that is moved into itself.
// status: completed
// value: true

const f = require('fs');
f.mkdirSync('d/e', { recursive: true });
const codes = [];
for (const [from, to] of [['d', 'd/e/d'], ['d', 'd/x'], ['/workspace', '/tmp/w'], ['d', '/workspace']]) try { f.renameSync(from, to); codes.push(to) } catch (error) { codes.push(error.code) }
return codes.every((code) => /^E/.test(code)) && f.existsSync('d/e');
