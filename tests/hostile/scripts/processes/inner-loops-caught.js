// The same, caught: what is left is left.
// status: completed
// limits: fuel = 50000
// value: "limit"

try { await shell('while :; do :; done') } catch (error) { return error.kind }
