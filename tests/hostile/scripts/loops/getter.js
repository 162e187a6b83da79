// A getter that does not return.
// status: limited
// error: limit
// message contains: fuel

return ({ get a() { for (;;); } }).a;
