// Corrections of the engine's language where it differs from what scripts expect.

const EngineWeakRef = globalThis.WeakRef;
const readWeakRef = uncurry(EngineWeakRef.prototype.deref);

// Weak reference whose target stays alive until the end of the turn in which the reference was created or read, as the
// language requires. The engine counts references and would free the target at once.
class WeakRef extends EngineWeakRef {
  constructor(target) {
    super(target);
    native.hold(target);
  }
  deref() {
    const target = readWeakRef(this);
    if (target !== undefined) native.hold(target);
    return target;
  }
}
weakSet(engineFunctions, WeakRef, true);
defineGlobal('WeakRef', WeakRef);

// Promise functions with the messages of Node's errors.
const promiseFunctions = {
  any(promises) {
    const Class = this;
    return new Class((resolve, reject) => {
      const errors = [];
      let waiting = 1;
      const rejectedOne = () => {
        if (--waiting === 0) reject(new AggregateError(errors, 'All promises were rejected'));
      };
      let at = 0;
      for (const promise of promises) {
        const index = at++;
        waiting++;
        let settled = false;
        Class.resolve(promise).then(resolve, (error) => {
          if (settled) return;
          settled = true;
          errors[index] = error;
          rejectedOne();
        });
      }
      rejectedOne();
    });
  },
};
define(Promise, 'any', promiseFunctions.any);

const { abs: absolute } = Math;

// Sums the squares as V8 does, because scripts print the last digits.
const hypot = {
  hypot(...values) {
    let largest = 0;
    let isNumber = true;
    for (let i = 0; i < values.length; i++) {
      const value = (values[i] = absolute(values[i]));
      if (isNan(value)) isNumber = false;
      else if (value > largest) largest = value;
    }
    if (largest === Infinity) return Infinity;
    if (!isNumber) return NaN;
    if (largest === 0) return 0;
    let sum = 0;
    let compensation = 0;
    for (let i = 0; i < values.length; i++) {
      const part = values[i] / largest;
      const square = part * part - compensation;
      const next = sum + square;
      compensation = next - sum - square;
      sum = next;
    }
    return sqrt(sum) * largest;
  },
}.hypot;
define(hypot, 'length', 2);
weakSet(engineFunctions, hypot, true);
define(globalThis.Math, 'hypot', hypot);

// Puts the text of a built-in function on one line, as V8 does.
const functionText = {
  toString() {
    const text = functionToString(this);
    return isBuiltIn(this) ? join(split(text, '{\n    [native code]\n}'), '{ [native code] }') : text;
  },
}.toString;
weakSet(engineFunctions, functionText, true);
define(Function.prototype, 'toString', functionText);
