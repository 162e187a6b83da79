// Two loops, of which the inner one continues the outer one endlessly.
// status: limited
// error: limit
// message contains: fuel

outer: for (;;) for (;;) continue outer;
