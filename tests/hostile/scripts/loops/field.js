// A field that makes another object of its own class.
// status: failed
// error: exception
// name: RangeError

class Endless { inner = new Endless() }
new Endless();
