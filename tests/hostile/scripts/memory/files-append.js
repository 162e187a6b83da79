// A file that grows in small steps.
// status: completed
// value: ["EDQUOT", true]

try { for (;;) fs.appendFileSync('log', 'x'.repeat(100_000)) } catch (error) { return [error.code, (await fs.stat('log')).size <= 16 << 20] }
