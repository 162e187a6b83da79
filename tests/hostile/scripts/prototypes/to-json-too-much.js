// `toJSON` that makes of five five thousand: the gate judges what it made.
// status: completed
// value: "CapabilityError"
// calls: denied

Object.prototype.toJSON = () => ({ to: 'evil', amount: 5000 });
try { await mirror.show({ to: 'a', amount: 5 }) } catch (error) { return error.name } finally { delete Object.prototype.toJSON }
