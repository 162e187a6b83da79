// A replacement that doubles a text.
// status: limited
// error: limit

let text = 'a';
for (;;) text = text.replace(/a/g, '$&$&');
