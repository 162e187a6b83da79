// A loop in a function that is made of text.
// status: limited
// error: limit
// message contains: fuel

new Function('for (;;);')();
