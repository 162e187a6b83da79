// A proxy as the value of the script, whose traps loop while the host reads it.
// status: limited
// error: limit
// message contains: fuel

return new Proxy({}, { ownKeys() { for (;;); } });
