// `process.kill` and `process.abort` only end the script itself.
// status: completed
// value: "string"

try { process.kill(-1, 'SIGKILL') } catch (error) { return typeof error.message }
