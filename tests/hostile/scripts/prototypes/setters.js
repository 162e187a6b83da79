// Setters on `Object.prototype` for the keys of a result.
// status: completed
// value: [{"to": "a", "amount": 5}, null]
// calls: ok

let caught;
Object.defineProperty(Object.prototype, 'amount', { set(v) { caught = v }, get: () => 99, configurable: true });
const given = await mirror.show({ to: 'a', amount: 5 });
delete Object.prototype.amount;
return [given, caught ?? null];
