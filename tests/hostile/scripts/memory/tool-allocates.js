// A call of a tool that exceeds the memory of the tool fails, and the next one succeeds.
// status: completed
// value: ["limit", true, 4]
// calls: failed ok

try { await probe.allocate({ bytes: 500e6 }) } catch (error) { return [error.kind, /memory limit of 33554432 bytes/.test(error.message), await probe.length({ text: 'four' })] }
