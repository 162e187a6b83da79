// `Promise` is replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

globalThis.Promise = function () { return { then(f) { f({ to: 'evil', amount: 99 }) } } };
return await mirror.show({ to: 'a', amount: 5 });
