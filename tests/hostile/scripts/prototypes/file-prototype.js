// `fs` is replaced. Modules and the adapters of tools do not use the replacement.
// status: completed
// value: [{"to": "a", "amount": 5}, "string"]
// calls: ok

for (const name of Object.keys(fs)) try { fs[name] = () => 'evil' } catch {}
return [await mirror.show({ to: 'a', amount: 5 }), typeof require('fs').readFileSync('data/given', 'utf8')];
