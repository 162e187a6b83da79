import path from 'path-browserify';

path.posix = path;
path.toNamespacedPath = (name) => name;
path.win32 ??= path;
export default path;
