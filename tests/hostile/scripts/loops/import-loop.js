// A module that is never evaluated to its end.
// status: limited
// error: limit
// message contains: fuel

await fs.writeFile('endless.mjs', 'for (;;);');
await import('./endless.mjs');
