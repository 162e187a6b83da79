// A limit in an asynchronous function, which neither `catch` nor `finally` stops.
// status: limited
// error: limit
// stdout: ""
// message contains: fuel

const loop = async () => { while (true) {} };
await loop().catch(() => console.log('caught')).finally(() => console.log('finally'));
