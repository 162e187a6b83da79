// A comparator that contradicts itself. Sorting ends nevertheless.
// status: completed
// value: 1000

let flip = 1;
const list = Array.from({ length: 1000 }, (_, n) => n);
return list.sort(() => (flip = -flip)).length;
