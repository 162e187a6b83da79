// Which pattern follows from which others, for most locales. Both what makes the data and what reads it use this.

// The options whose pattern is that of these with another form of one part; none for those that stand for themselves.
export const derivedFrom = (options) => {
  if (options.day === '2-digit') return { ...options, day: 'numeric' };
  if (options.year === '2-digit') return { ...options, year: 'numeric' };
  if (options.month === '2-digit') return { ...options, month: 'numeric' };
  if (options.weekday === 'short') return { ...options, weekday: 'long' };
  return undefined;
};

// The pattern of `base` with the form that `options` have.
export const rewrite = (pattern, options, base) => {
  if (options.day !== base.day) return pattern.replace('{d}', '{D}');
  if (options.year !== base.year) return pattern.replace('{y}', '{Y}');
  if (options.month !== base.month) return pattern.replace('{1}', '{2}');
  return pattern.replace('{W}', '{w}').replace('{V}', '{v}');
};

// The patterns of a unit that is divided by another one, of its own patterns and what is around those.
export const rate = (patterns, around) => {
  if (around === undefined) return undefined;
  const join = (pattern) => `${around[0]}${pattern}${around[1]}`.replaceAll('}{', '');
  return typeof patterns === 'string' ? join(patterns) : Object.fromEntries(Object.entries(patterns).map(([category, pattern]) => [category, join(pattern)]));
};
