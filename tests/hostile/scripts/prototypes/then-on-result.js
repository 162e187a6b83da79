// `then` on all objects, so that results would look like promises.
// status: completed
// value: {"to": "a", "amount": 5}
// calls: ok

let asked = 0;
Object.defineProperty(Object.prototype, 'then', { get() { asked++; return undefined }, configurable: true });
const given = await mirror.show({ to: 'a', amount: 5 });
delete Object.prototype.then;
return given;
