// Each promise creates the next one.
// status: limited
// error: limit

const next = () => Promise.resolve().then(next);
await next();
