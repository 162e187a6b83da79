// `process.kill` and `process.abort` end nobody but the script.
// status: completed
// value: "string"

try { process.kill(-1, 'SIGKILL') } catch (error) { return typeof error.message }
