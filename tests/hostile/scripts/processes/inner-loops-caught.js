// An inner script that loops. The outer one catches the error, and continues with the rest of its resources.
// status: completed
// limits: fuel = 50000
// value: "limit"

try { await shell('while :; do :; done') } catch (error) { return error.kind }
