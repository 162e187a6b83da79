// A read-only mount cannot be changed by any operation or through any path.
// status: completed
// value: [[], "given\n"]

const f = require('fs');
f.symlinkSync('/workspace/data', 'link');
const tried = [
  () => f.writeFileSync('data/given', 'x'), () => f.appendFileSync('data/given', 'x'), () => f.unlinkSync('data/given'),
  () => f.renameSync('data/given', 'moved'), () => f.renameSync('data', 'moved'), () => f.writeFileSync('link/given', 'x'),
  () => f.writeFileSync('data/../data/new', 'x'), () => f.truncateSync('data/given', 0), () => f.chmodSync('data/given', 0o777),
  () => f.symlinkSync('x', 'data/l'), () => f.mkdirSync('data/d'), () => f.rmSync('data', { recursive: true }), () => f.copyFileSync('link/given', 'data/copy'),
];
const went = tried.filter((attempt) => { try { attempt(); return true } catch { return false } }).map(String);
return [went, await fs.readFile('data/given')];
