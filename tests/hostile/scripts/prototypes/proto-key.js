// `__proto__` as a key of its own: unknown, and no prototype.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show(JSON.parse('{"to": "a", "__proto__": {"amount": 5}}')) } catch (error) { return error.name }
