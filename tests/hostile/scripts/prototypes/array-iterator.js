// The iterator of lists is replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

Array.prototype[Symbol.iterator] = function* () { yield { to: 'evil', amount: 99 } };
return await mirror.show({ to: 'a', amount: 5 });
