// A proxy with new keys each time, which is spread endlessly.
// status: limited
// error: limit

const proxy = new Proxy({}, { ownKeys: () => ['a' + Math.random()], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });
for (;;) ({ ...proxy });
