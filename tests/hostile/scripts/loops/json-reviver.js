// A reviver that does not return.
// status: limited
// error: limit
// message contains: fuel

JSON.parse('[1]', () => { for (;;); });
