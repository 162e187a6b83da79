// Derivation of patterns from others, valid for most locales. Both the program that generates the data and the code
// that reads it use this.

// Returns the options whose pattern differs from that of these options in the form of one part only; undefined if there
// are none.
export const derivedFrom = (options) => {
  if (options.day === '2-digit') return { ...options, day: 'numeric' };
  if (options.year === '2-digit') return { ...options, year: 'numeric' };
  if (options.month === '2-digit') return { ...options, month: 'numeric' };
  if (options.weekday === 'short') return { ...options, weekday: 'long' };
  return undefined;
};

// Returns the pattern of `base`, with the form that `options` ask for.
export const rewrite = (pattern, options, base) => {
  if (options.day !== base.day) return pattern.replace('{d}', '{D}');
  if (options.year !== base.year) return pattern.replace('{y}', '{Y}');
  if (options.month !== base.month) return pattern.replace('{1}', '{2}');
  return pattern.replace('{W}', '{w}').replace('{V}', '{v}');
};

// Returns the patterns of a unit that is divided by another one, from its own patterns and the text around them.
export const rate = (patterns, around) => {
  if (around === undefined) return undefined;
  const join = (pattern) => `${around[0]}${pattern}${around[1]}`.replaceAll('}{', '');
  return typeof patterns === 'string' ? join(patterns) : Object.fromEntries(Object.entries(patterns).map(([category, pattern]) => [category, join(pattern)]));
};
