// `toJSON` that turns 5 into 5000. The gate checks its result.
// status: completed
// value: "CapabilityError"
// calls: denied

Object.prototype.toJSON = () => ({ to: 'evil', amount: 5000 });
try { await mirror.show({ to: 'a', amount: 5 }) } catch (error) { return error.name } finally { delete Object.prototype.toJSON }
