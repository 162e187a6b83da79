// Source text of nested parentheses in TypeScript, which has another parser.
// status: limited
// error: limit

await fs.writeFile('deep.ts', 'export const deep: number = ' + '('.repeat(100_000) + '1' + ')'.repeat(100_000));
await import('./deep.ts');
