// An error whose stack is a getter that does not return.
// status: limited
// error: limit

const error = new Error('no');
Object.defineProperty(error, 'stack', { get() { for (;;); } });
throw error;
