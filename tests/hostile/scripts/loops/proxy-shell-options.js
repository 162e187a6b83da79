// A proxy as options of `shell`, whose traps loop while the guest reads them.
// status: limited
// error: limit
// message contains: fuel

await shell('echo hi', new Proxy({}, { get() { for (;;); }, has: () => true }));
