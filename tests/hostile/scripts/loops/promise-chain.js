// Each promise makes the next one.
// status: limited
// error: limit

const next = () => Promise.resolve().then(next);
await next();
