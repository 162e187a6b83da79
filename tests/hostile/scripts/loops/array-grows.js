// A list that is added to while it is walked.
// status: limited
// error: limit

const list = [1];
for (const n of list) list.push(n);
