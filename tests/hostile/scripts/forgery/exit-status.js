// A status of the CLI's own.
// status: failed
// error: exit
// exit: 3

process.exit(3);
