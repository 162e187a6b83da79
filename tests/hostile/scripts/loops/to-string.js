// A conversion that does not return.
// status: limited
// error: limit
// message contains: fuel

return `${{ toString() { for (;;); } }}`;
