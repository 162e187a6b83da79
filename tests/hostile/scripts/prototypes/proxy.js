// A proxy that returns 5 first and 5000 later.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

let reads = 0;
const proxy = new Proxy({ to: 'a', amount: 5 }, { get: (target, key) => (key === 'amount' && reads++ ? 5000 : target[key]) });
return await mirror.show(proxy);
