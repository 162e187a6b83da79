// `Object.prototype.toJSON`, which does not affect plain objects.
// status: completed
// value: {"to": "evil", "amount": 99}
// calls: ok

Object.prototype.toJSON = () => ({ to: 'evil', amount: 99 });
const given = await mirror.show({ to: 'a', amount: 5 });
delete Object.prototype.toJSON;
return given;
