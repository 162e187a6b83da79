// A handle of an earlier run, which is invalid in this one.
// status: completed
// value: "ArgumentError"

const earlier = 'handle:0123456789abcdef0123456789abcdef';
try { await probe.counter.increment({ self: earlier, by: 1 }) } catch (error) { return error.name }
