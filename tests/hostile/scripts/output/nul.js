// Bytes that are not text are written unchanged.
// status: completed
// stdout: "\u0000A\u0000"

process.stdout.write(new Uint8Array([0, 65, 0]));
