// Getters on `Object.prototype` do not become arguments.
// status: completed
// value: "ArgumentError"
// calls: denied

Object.defineProperty(Object.prototype, 'amount', { get: () => 5000, configurable: true });
try { await mirror.show({ to: 'a' }) } catch (error) { return error.name }
