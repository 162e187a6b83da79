// Source text of nested types.
// status: limited
// error: limit

await fs.writeFile('deep.ts', 'export let deep: ' + 'Array<'.repeat(50_000) + 'number' + '>'.repeat(50_000));
await import('./deep.ts');
