// Files of environment variables, for `util.parseEnv` and `process.loadEnvFile`.

// Reads assignments as Node 20 does, also where they are malformed: only spaces are trimmed, and a name may contain lines.
export const parseVariables = (text) => {
  const variables = new Map();
  const trim = (part) => part.replace(/^ +| +$/g, '');
  let rest = trim(text.replaceAll('\r', ''));
  const dropLine = (from) => {
    const end = rest.indexOf('\n', from);
    rest = end < 0 ? '' : rest.slice(end);
  };
  while (rest !== '') {
    if (rest[0] === '\n' || rest[0] === '#') {
      const end = rest.indexOf('\n');
      if (end >= 0) {
        rest = rest.slice(end + 1);
        continue;
      }
    }
    const equal = rest.indexOf('=');
    if (equal < 0) break;
    const name = trim(rest.slice(0, equal)).replace(/^export /, '');
    rest = rest.slice(equal + 1);
    if (trim(name) === '') break;
    if (rest === '' || rest[0] === '\n') {
      variables.set(name, '');
      rest = rest.slice(1);
      continue;
    }
    rest = trim(rest);
    const quote = /^["'`]/.exec(rest)?.[0];
    const closing = quote === undefined ? -1 : rest.indexOf(quote, 1);
    if (closing > 0) {
      const value = rest.slice(1, closing);
      variables.set(name, quote === '"' ? value.replaceAll('\\n', '\n') : value);
      dropLine(closing);
      continue;
    }
    const line = rest.split('\n', 1)[0];
    if (quote === undefined) variables.set(name, trim(line.split('#', 1)[0]));
    else if (rest.includes('\n')) variables.set(name, line);
    else continue;
    dropLine(0);
  }
  // As in Node, in the order of the names.
  return Object.fromEntries([...variables].sort(([a], [b]) => (a < b ? -1 : 1)));
};
