// Namespaces do not inherit methods from `Object.prototype`.
// status: completed
// value: "TypeError"
// calls: 

Object.prototype.transfer = () => 'evil';
try { await mirror.transfer({ to: 'a' }) } catch (error) { return error.name } finally { delete Object.prototype.transfer }
