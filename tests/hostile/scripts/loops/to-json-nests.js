// `toJSON` of the script's value returns another value with a `toJSON`.
// status: failed
// error: exception
// message contains: nested more than

const deeper = () => ({ a: { toJSON: deeper } });
return deeper();
