// Errors that are each other's cause.
// status: failed
// error: exception
// message contains: next

let error = new Error('first');
for (let n = 0; n < 100_000; n++) error = new Error('next', { cause: error });
throw error;
