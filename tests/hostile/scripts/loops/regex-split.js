// The same by `split`.
// status: limited
// error: limit

'a'.repeat(50).split(/(a+)+b/);
