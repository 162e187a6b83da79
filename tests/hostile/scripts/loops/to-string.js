// A conversion to a string that does not return.
// status: limited
// error: limit
// message contains: fuel

return `${{ toString() { for (;;); } }}`;
