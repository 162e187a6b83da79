// Each callback of `process.nextTick` queues another one, so timers never fire.
// status: limited
// error: limit

const again = () => process.nextTick(again);
again();
await new Promise(() => {});
