// A proxy with different keys each time.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

let asked = 0;
const proxy = new Proxy({ to: 'a', amount: 5, evil: 1 }, { ownKeys: () => (asked++ ? ['to', 'amount', 'evil'] : ['to', 'amount']) });
return await mirror.show(proxy);
