// `Error.prototype` and `prepareStackTrace` are replaced. A refusal remains a refusal.
// status: completed
// value: "CapabilityError"
// calls: denied

Object.defineProperty(Error.prototype, 'kind', { get: () => 'ok', set() {}, configurable: true });
Error.prepareStackTrace = () => { throw new Error('evil') };
try { await mirror.show({ to: 'a', amount: 5000 }) } catch (error) { return error.name }
