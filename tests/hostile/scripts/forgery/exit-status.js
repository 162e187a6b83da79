// An exit status with a special meaning in the CLI.
// status: failed
// error: exit
// exit: 3

process.exit(3);
