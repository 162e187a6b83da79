// The same in arithmetic.
// status: limited
// error: limit
// message contains: fuel

return 1 + { valueOf() { for (;;); } };
