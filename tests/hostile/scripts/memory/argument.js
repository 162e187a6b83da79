// An argument beyond the limit on arguments is refused, and the script continues.
// status: completed
// value: ["LimitError", "limit", true, true]
// calls: denied

try { await probe.length({ text: 'x'.repeat(2 << 20) }) } catch (error) { return [error.name, error.kind, /argument/.test(error.message), /raise/.test(error.hint)] }
