// Endless parameters of an address.
// status: limited
// error: limit

const parameters = new URLSearchParams();
for (let n = 0; ; n++) parameters.append('name', 'x'.repeat(1e4) + n);
