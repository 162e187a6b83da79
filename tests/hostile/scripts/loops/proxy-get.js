// A proxy trap that does not return.
// status: limited
// error: limit
// message contains: fuel

return new Proxy({}, { get() { for (;;); } }).a;
