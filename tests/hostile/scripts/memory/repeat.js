// A text that is repeated beyond the largest length.
// status: limited
// error: limit

'x'.repeat(2 ** 30 - 1);
