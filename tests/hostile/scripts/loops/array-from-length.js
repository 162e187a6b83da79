// A list of as many elements as a number can say.
// status: failed
// error: exception
// name: RangeError

Array.from({ length: 2 ** 53 - 1 }, () => 1);
