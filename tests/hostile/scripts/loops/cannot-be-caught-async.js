// The same behind a promise.
// status: limited
// error: limit
// stdout: ""
// message contains: fuel

const loop = async () => { while (true) {} };
await loop().catch(() => console.log('caught')).finally(() => console.log('finally'));
