// A replacer that adds a level each time, for an endless value.
// status: failed
// error: exception

JSON.stringify({}, () => ({ a: {} }));
