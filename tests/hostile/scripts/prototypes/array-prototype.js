// The methods of lists are replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

for (const name of ['map', 'push', 'slice', 'join', 'forEach', 'indexOf', 'filter', 'concat', 'shift', 'pop', 'includes', 'some', 'every', 'reduce', 'splice']) Array.prototype[name] = () => ['evil'];
return await mirror.show({ to: 'a', amount: 5 });
