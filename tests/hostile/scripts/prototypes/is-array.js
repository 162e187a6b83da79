// `Array.isArray` is replaced.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

Array.isArray = () => true;
return await mirror.show({ to: 'a', amount: 5 });
