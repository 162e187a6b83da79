// A list with the largest length that a number can represent.
// status: failed
// error: exception
// name: RangeError

Array.from({ length: 2 ** 53 - 1 }, () => 1);
