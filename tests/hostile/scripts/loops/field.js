// A field initializer that creates another object of its class.
// status: failed
// error: exception
// name: RangeError

class Endless { inner = new Endless() }
new Endless();
