// A default parameter that calls its own function.
// status: failed
// error: exception
// name: RangeError

const f = (a = f()) => a;
f();
