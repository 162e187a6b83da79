// `Promise.prototype.then` is replaced. The value of the script is still the real result.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

Promise.prototype.then = function () { return 'evil' };
return await mirror.show({ to: 'a', amount: 5 });
