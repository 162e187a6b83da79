// A recursive function whose error is not caught.
// status: failed
// error: exception
// name: RangeError

const f = () => f() + 1;
f();
