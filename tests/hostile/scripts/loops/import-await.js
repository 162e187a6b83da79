// Two modules that wait for each other.
// status: failed
// error: deadlock

await fs.writeFile('a.mjs', "await import('./b.mjs'); export const a = 1");
await fs.writeFile('b.mjs', "await import('./a.mjs'); export const b = 1");
await import('./a.mjs');
