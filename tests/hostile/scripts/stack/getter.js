// A getter that reads itself.
// status: failed
// error: exception
// name: RangeError

const o = { get a() { return this.a } };
o.a;
