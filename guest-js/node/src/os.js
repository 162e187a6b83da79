// `os`: describes a machine with one processor, and reveals nothing about the real one.
import { SIGNALS } from './signals.js';

// Error numbers of Linux.
const errno = {};
const errors = (
  'E2BIG 7 EACCES 13 EADDRINUSE 98 EADDRNOTAVAIL 99 EAFNOSUPPORT 97 EAGAIN 11 EALREADY 114 EBADF 9 EBADMSG 74 ' +
  'EBUSY 16 ECANCELED 125 ECHILD 10 ECONNABORTED 103 ECONNREFUSED 111 ECONNRESET 104 EDEADLK 35 EDESTADDRREQ 89 ' +
  'EDOM 33 EDQUOT 122 EEXIST 17 EFAULT 14 EFBIG 27 EHOSTUNREACH 113 EIDRM 43 EILSEQ 84 EINPROGRESS 115 EINTR 4 ' +
  'EINVAL 22 EIO 5 EISCONN 106 EISDIR 21 ELOOP 40 EMFILE 24 EMLINK 31 EMSGSIZE 90 EMULTIHOP 72 ENAMETOOLONG 36 ' +
  'ENETDOWN 100 ENETRESET 102 ENETUNREACH 101 ENFILE 23 ENOBUFS 105 ENODATA 61 ENODEV 19 ENOENT 2 ENOEXEC 8 ' +
  'ENOLCK 37 ENOLINK 67 ENOMEM 12 ENOMSG 42 ENOPROTOOPT 92 ENOSPC 28 ENOSR 63 ENOSTR 60 ENOSYS 38 ENOTCONN 107 ' +
  'ENOTDIR 20 ENOTEMPTY 39 ENOTSOCK 88 ENOTSUP 95 ENOTTY 25 ENXIO 6 EOPNOTSUPP 95 EOVERFLOW 75 EPERM 1 EPIPE 32 ' +
  'EPROTO 71 EPROTONOSUPPORT 93 EPROTOTYPE 91 ERANGE 34 EROFS 30 ESPIPE 29 ESRCH 3 ESTALE 116 ETIME 62 ' +
  'ETIMEDOUT 110 ETXTBSY 26 EWOULDBLOCK 11 EXDEV 18'
).split(' ');
for (let i = 0; i < errors.length; i += 2) errno[errors[i]] = Number(errors[i + 1]);
// Signals in Node's order, including second names of two of them.
const names = SIGNALS.flatMap((name) => ({ SIGABRT: [name, 'SIGIOT'], SIGIO: [name, 'SIGPOLL'], SIGSTKFLT: ['SIGCHLD', name], SIGCHLD: [] })[name] ?? [name]);
const numberOf = (name) => SIGNALS.indexOf({ SIGIOT: 'SIGABRT', SIGPOLL: 'SIGIO' }[name] ?? name) + 1;
const constants = {
  errno,
  signals: Object.fromEntries(names.map((name) => [name, numberOf(name)])),
  priority: {
    PRIORITY_LOW: 19,
    PRIORITY_BELOW_NORMAL: 10,
    PRIORITY_NORMAL: 0,
    PRIORITY_ABOVE_NORMAL: -7,
    PRIORITY_HIGH: -14,
    PRIORITY_HIGHEST: -20,
  },
};

export default {
  EOL: '\n',
  devNull: '/dev/null',
  arch: () => 'wasm32',
  availableParallelism: () => 1,
  cpus: () => [{ model: 'wasm', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
  endianness: () => 'LE',
  // Returns the memory that the run may still use.
  freemem: () => Math.max(host.native.memoryLimit() - host.native.memoryUsed(), 0),
  getPriority: () => 0,
  homedir: () => host.env.HOME ?? '/workspace',
  hostname: () => 'tollhouse',
  loadavg: () => [0, 0, 0],
  machine: () => 'wasm32',
  networkInterfaces: () => ({}),
  platform: () => 'linux',
  setPriority: () => {},
  release: () => '0.0.0',
  tmpdir: () => '/tmp',
  totalmem: () => host.native.memoryLimit(),
  type: () => 'Linux',
  uptime: () => (host.native.now() - host.scriptStart()) / 1000,
  userInfo: () => ({ uid: 1000, gid: 1000, username: 'agent', homedir: host.env.HOME ?? '/workspace', shell: null }),
  version: () => 'Tollhouse',
  constants,
};
