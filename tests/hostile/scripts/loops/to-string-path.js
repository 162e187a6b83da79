// The same as the path of a file.
// status: failed
// error: exception
// name: TypeError

await fs.readFile({ toString() { for (;;); } });
