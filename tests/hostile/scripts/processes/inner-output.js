// An inner script that writes without end.
// status: limited
// error: limit

await shell('yes');
