// `Symbol.species` of promises is replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

Object.defineProperty(Promise, Symbol.species, { get: () => function (executor) { executor(() => {}, () => {}) } });
return await mirror.show({ to: 'a', amount: 5 });
