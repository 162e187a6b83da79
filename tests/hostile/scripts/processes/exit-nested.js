// The exit of an inner script does not end the outer one.
// status: completed
// value: 9

await shell('exit 3');
const { exitCode } = await shell('node -e "process.exit(9)"');
return exitCode;
