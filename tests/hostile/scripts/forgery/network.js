// There is no network access, except through the tool that has it.
// status: completed
// value: []

const seen = [];
for (const name of ['http', 'https', 'net', 'tls', 'dgram', 'dns', 'worker_threads', 'cluster', 'vm', 'inspector', 'v8', 'repl']) try { const m = require(name); (m.request ?? m.connect ?? m.createSocket ?? m.lookup ?? m.runInThisContext)('x'); seen.push(name) } catch {}
await fetch('http://127.0.0.1:1').then(() => seen.push('fetch'), () => {});
return seen;
