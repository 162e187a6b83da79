// A replacer that makes a new level each time, of a value without an end.
// status: limited
// error: limit

JSON.stringify({}, () => ({ a: {} }));
