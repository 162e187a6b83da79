// A tool beyond the memory that it may have: its call fails, and the next one works.
// status: completed
// value: ["limit", true, 4]
// calls: failed ok

try { await probe.allocate({ bytes: 500e6 }) } catch (error) { return [error.kind, /memory limit of 33554432 bytes/.test(error.message), await probe.length({ text: 'four' })] }
