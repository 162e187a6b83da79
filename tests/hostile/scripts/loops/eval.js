// A loop in evaluated text.
// status: limited
// error: limit
// message contains: fuel

(0, eval)('for (;;);');
