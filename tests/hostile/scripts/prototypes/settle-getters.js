// Accessors on `Object.prototype` for the fields of records from the host.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

for (const name of ['id', 'resolve', 'reject', 'kind', 'result', 'value', 'ok', 'method', 'arguments', 'signal']) Object.defineProperty(Object.prototype, name, { __proto__: null, get: () => { throw new Error('evil ' + name) }, set() {}, configurable: true });
let given;
try { given = await mirror.show({ to: 'a', amount: 5 }) } finally { for (const name of ['id', 'resolve', 'reject', 'kind', 'result', 'value', 'ok', 'method', 'arguments', 'signal']) delete Object.prototype[name] }
return given;
