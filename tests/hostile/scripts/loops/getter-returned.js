// A getter in the value of the script, which loops while the host reads the value.
// status: limited
// error: limit
// message contains: fuel

return { get a() { for (;;); } };
