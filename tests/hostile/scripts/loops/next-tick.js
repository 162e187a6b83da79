// The same with `process.nextTick`.
// status: limited
// error: limit

const again = () => process.nextTick(again);
again();
await new Promise(() => {});
