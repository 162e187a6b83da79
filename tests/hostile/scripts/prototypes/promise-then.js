// `Promise.prototype.then` replaced: what is returned is what came.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

Promise.prototype.then = function () { return 'evil' };
return await mirror.show({ to: 'a', amount: 5 });
