// A getter of the value that the script returns: the host's own reading of it.
// status: limited
// error: limit
// message contains: fuel

return { get a() { for (;;); } };
