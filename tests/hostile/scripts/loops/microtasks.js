// Each microtask queues another one, so timers never fire.
// status: limited
// error: limit
// stdout: ""

setTimeout(() => console.log('never'), 0);
const again = () => queueMicrotask(again);
again();
await new Promise(() => {});
