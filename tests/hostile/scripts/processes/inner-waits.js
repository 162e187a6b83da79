// An inner script that waits for ever, and is cancelled.
// status: completed
// value: ["AbortError", "on\n"]

const controller = new AbortController();
setTimeout(() => controller.abort(), 50);
try { await shell('sleep 1000', { signal: controller.signal }) } catch (error) { return [error.name, await shell.run('echo on')] }
