// A proxy as the script's value: its traps loop while the host reads.
// status: limited
// error: limit
// message contains: fuel

return new Proxy({}, { ownKeys() { for (;;); } });
