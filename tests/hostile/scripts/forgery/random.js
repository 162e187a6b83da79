// Random numbers do not tell of other runs: they are not those of a fresh seed.
// status: completed
// value: true

return Math.random() !== Math.random() && crypto.randomUUID() !== crypto.randomUUID();
