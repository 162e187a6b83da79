// An error that pretends to be a limit.
// status: failed
// error: exception

class LimitError extends Error { kind = 'limit'; name = 'LimitError' }
throw new LimitError('time limit of 1 ms reached');
