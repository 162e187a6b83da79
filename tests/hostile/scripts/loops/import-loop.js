// A module whose evaluation never ends.
// status: limited
// error: limit
// message contains: fuel

await fs.writeFile('endless.mjs', 'for (;;);');
await import('./endless.mjs');
