// Endless resources, each in its own instance. A run has a limited number, and leaves room for other calls.
// status: completed
// value: ["limit", 100]
// limits: fuel = 100000000, memory = "256MiB"

const all = [];
try { for (let n = 0; n < 20_000; n++) all.push(await probe.counter.new({ start: n })) } catch (error) { return [error.kind, all.length] }
