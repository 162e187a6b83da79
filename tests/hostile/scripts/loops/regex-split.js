// Endless backtracking of a regular expression in `split`.
// status: limited
// error: limit

'a'.repeat(50).split(/(a+)+b/);
