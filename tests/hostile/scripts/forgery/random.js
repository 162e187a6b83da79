// Random numbers reveal nothing about other runs. They come from a fresh seed.
// status: completed
// value: true

return Math.random() !== Math.random() && crypto.randomUUID() !== crypto.randomUUID();
