// A replacer that adds a level each time, for an endless value.
// status: limited
// error: limit

JSON.stringify({}, () => ({ a: {} }));
