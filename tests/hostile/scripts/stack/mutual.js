// Functions that call each other.
// status: failed
// error: exception
// name: RangeError

const a = () => b(), b = () => a();
a();
