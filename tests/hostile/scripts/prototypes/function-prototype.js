// `call`, `apply` and `bind` are replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'evil';
return await mirror.show({ to: 'a', amount: 5 });
