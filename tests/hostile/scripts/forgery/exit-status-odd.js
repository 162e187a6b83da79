// Invalid exit statuses.
// status: failed
// error: exit
// exit: 4

process.exitCode = -1;
process.exit(2 ** 40 + 4);
