// A short regular expression with a large compiled form.
// status: limited
// error: limit

const all = [];
for (;;) all.push(new RegExp('(?:(?:(?:(?:a{1,99}){1,99}){1,99})b){1,9}' + all.length).exec('aaa'));
