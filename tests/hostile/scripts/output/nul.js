// Bytes that are no text come out as they are.
// status: completed
// stdout: "\u0000A\u0000"

process.stdout.write(new Uint8Array([0, 65, 0]));
