// A comparator that does not return.
// status: limited
// error: limit
// message contains: fuel

[3, 1, 2].sort(() => { while (true) {} });
