// A path whose conversion to a string does not return. It is refused without the conversion.
// status: failed
// error: exception
// name: TypeError

await fs.readFile({ toString() { for (;;); } });
