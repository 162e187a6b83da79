// The functions of `Object` and `Reflect` are replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

for (const name of ['keys', 'entries', 'assign', 'freeze', 'create', 'defineProperty', 'getPrototypeOf', 'fromEntries']) Object[name] = () => ({ to: 'evil', amount: 99 });
for (const name of ['get', 'ownKeys', 'apply', 'construct']) Reflect[name] = () => 'evil';
return await mirror.show({ to: 'a', amount: 5 });
