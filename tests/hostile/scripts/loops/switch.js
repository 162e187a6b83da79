// A switch in a loop.
// status: limited
// error: limit

let state = 0;
for (;;) switch (state) { case 0: state = 1; break; case 1: state = 0; break; }
