// Endless listeners.
// status: limited
// error: limit

const target = new EventTarget();
for (let n = 0; ; n++) target.addEventListener('a' + n, () => n);
