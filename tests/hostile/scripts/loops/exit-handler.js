// An exit handler that does not return.
// status: limited
// error: limit
// message contains: fuel

process.on('exit', () => { for (;;); });
process.exit(0);
