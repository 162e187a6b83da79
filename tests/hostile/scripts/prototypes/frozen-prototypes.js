// Frozen prototypes.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

for (const kind of [Object, Array, Promise, Function, Error]) Object.freeze(kind.prototype);
return await mirror.show({ to: 'a', amount: 5 });
