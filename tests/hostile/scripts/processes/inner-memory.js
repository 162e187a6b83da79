// An inner script beyond its memory: its outer one is told, and goes on.
// status: completed
// value: ["limit", "on\n"]

try { await shell('x=xxxxxxxx; while :; do x=$x$x; done') } catch (error) { return [error.kind, await shell.run('echo on')] }
