// An inner script that overflows its stack.
// status: completed
// value: ["limit", "on\n"]

try { await shell('f() { f; }; f') } catch (error) { return [error.kind, await shell.run('echo on')] }
