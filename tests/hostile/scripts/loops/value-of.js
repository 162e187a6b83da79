// A conversion to a number in arithmetic that does not return.
// status: limited
// error: limit
// message contains: fuel

return 1 + { valueOf() { for (;;); } };
