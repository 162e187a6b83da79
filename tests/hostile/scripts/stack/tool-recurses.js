// A tool that recurses too deeply. Its call fails, and the next one succeeds.
// status: completed
// value: ["tool", true, 2]
// calls: failed ok

try { await probe.recurse({}) } catch (error) { return [error.kind, /trapped/.test(error.message), await probe.length({ text: 'on' })] }
