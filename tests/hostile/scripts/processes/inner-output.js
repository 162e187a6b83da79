// An inner script with endless output.
// status: limited
// error: limit

await shell('yes');
