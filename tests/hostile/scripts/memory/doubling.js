// A text that doubles, beyond the longest that there is.
// status: failed
// error: exception

let text = 'x';
for (;;) text += text;
