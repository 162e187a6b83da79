// `callBound('RegExp.prototype.test')` returns a method as a function whose first argument is `this`.
module.exports = (path) => {
  let value = globalThis;
  for (const name of path.split('.')) value = value[name];
  return Function.prototype.call.bind(value);
};
