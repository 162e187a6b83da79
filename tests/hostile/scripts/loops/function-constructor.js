// A loop in a function that is created from text.
// status: limited
// error: limit
// message contains: fuel

new Function('for (;;);')();
