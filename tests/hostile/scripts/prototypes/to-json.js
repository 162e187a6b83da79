// `Object.prototype.toJSON`: no plain object has a say in what it becomes.
// status: completed
// value: {"to": "evil", "amount": 99}
// calls: ok

Object.prototype.toJSON = () => ({ to: 'evil', amount: 99 });
const given = await mirror.show({ to: 'a', amount: 5 });
delete Object.prototype.toJSON;
return given;
