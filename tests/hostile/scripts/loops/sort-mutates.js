// A comparator that extends the list during the sort.
// status: completed
// value: true

const list = [5, 4, 3, 2, 1];
list.sort((a, b) => { list.push(a); return a - b });
return list.length >= 5;
