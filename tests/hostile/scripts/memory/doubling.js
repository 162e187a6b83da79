// A text that doubles beyond the largest length.
// status: failed
// error: exception

let text = 'x';
for (;;) text += text;
