// Source text of nested lists in a module.
// status: limited
// error: limit

await fs.writeFile('deep.mjs', 'export default ' + '['.repeat(100_000) + ']'.repeat(100_000));
await import('./deep.mjs');
