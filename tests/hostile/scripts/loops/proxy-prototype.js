// A proxy that is its own prototype.
// status: limited
// error: limit

const proxy = new Proxy({}, { getPrototypeOf: () => proxy });
return proxy instanceof Array;
