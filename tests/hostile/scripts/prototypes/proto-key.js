// `__proto__` as an own key is an unknown key, and sets no prototype.
// status: completed
// value: "ArgumentError"
// calls: denied

try { await mirror.show(JSON.parse('{"to": "a", "__proto__": {"amount": 5}}')) } catch (error) { return error.name }
