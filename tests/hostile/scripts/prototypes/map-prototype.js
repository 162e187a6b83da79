// The methods of maps and sets are replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

for (const kind of [Map, Set, WeakMap]) for (const name of ['get', 'set', 'has', 'add', 'delete']) kind.prototype[name] = () => 'evil';
return await mirror.show({ to: 'a', amount: 5 });
