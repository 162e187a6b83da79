// A result beyond the limit on results is refused, and the script continues.
// status: completed
// value: ["LimitError", "limit", true, true]
// calls: failed

try { await probe.text({ count: 2 << 20 }) } catch (error) { return [error.name, error.kind, /result/.test(error.message), /raise/.test(error.hint)] }
