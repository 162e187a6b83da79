// What a namespace has not it does not get from `Object.prototype`.
// status: completed
// value: "TypeError"
// calls: 

Object.prototype.transfer = () => 'evil';
try { await mirror.transfer({ to: 'a' }) } catch (error) { return error.name } finally { delete Object.prototype.transfer }
