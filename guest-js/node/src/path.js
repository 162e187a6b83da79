import path from 'path-browserify';

path.posix = path;
path.toNamespacedPath = (name) => name;
// Paths of Windows are not these: an error rather than a wrong path.
path.win32 = { sep: '\\', delimiter: ';', posix: path };
for (const [name, value] of Object.entries(path)) {
  if (typeof value !== 'function') continue;
  path.win32[name] = () => {
    throw Object.assign(new Error(`path.win32.${name} is not available in Tollhouse: paths are those of POSIX`), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
  };
}
path.win32.win32 = path.win32;
export default path;
