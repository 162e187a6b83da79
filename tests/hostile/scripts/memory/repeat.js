// A text that is repeated beyond any length.
// status: limited
// error: limit

'x'.repeat(2 ** 30 - 1);
