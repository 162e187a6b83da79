// An inner script that exceeds its memory. The outer one gets an error, and continues.
// status: completed
// value: ["limit", "on\n"]

try { await shell('x=xxxxxxxx; while :; do x=$x$x; done') } catch (error) { return [error.kind, await shell.run('echo on')] }
