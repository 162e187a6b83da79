// `fs.constants`.
import { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } from './descriptors.js';

// Constants of Linux, without flags that have no effect on an open file here (`O_DIRECTORY`, `O_NOFOLLOW` and the
// like).
export const constants = {
  O_RDONLY,
  O_WRONLY,
  O_RDWR,
  S_IFMT: 0o170000,
  S_IFREG: 0o100000,
  S_IFDIR: 0o40000,
  S_IFCHR: 0o20000,
  S_IFBLK: 0o60000,
  S_IFIFO: 0o10000,
  S_IFLNK: 0o120000,
  S_IFSOCK: 0o140000,
  O_CREAT,
  O_EXCL,
  O_TRUNC,
  O_APPEND,
  S_IRWXU: 0o700,
  S_IRUSR: 0o400,
  S_IWUSR: 0o200,
  S_IXUSR: 0o100,
  S_IRWXG: 0o70,
  S_IRGRP: 0o40,
  S_IWGRP: 0o20,
  S_IXGRP: 0o10,
  S_IRWXO: 0o7,
  S_IROTH: 0o4,
  S_IWOTH: 0o2,
  S_IXOTH: 0o1,
  F_OK: 0,
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  COPYFILE_EXCL: 1,
};
