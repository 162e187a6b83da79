// A setter that sets itself.
// status: limited
// error: limit

const o = { set a(v) { for (;;) v++; } };
o.a = 1;
