# What git is built with and without, for WASI. Read by git's Makefile.

# Neither threads, processes and signals, sockets, mapped files, nor owners and modes of files.
NO_PTHREADS = YesPlease
NO_UNIX_SOCKETS = YesPlease
NO_IPV6 = YesPlease
NO_MMAP = YesPlease
NO_SETITIMER = YesPlease
NO_STRUCT_ITIMERVAL = YesPlease
NO_POSIX_GOODIES = YesPlease
NO_TRUSTABLE_FILEMODE = YesPlease
NO_GECOS_IN_PWENT = YesPlease
# No hard links either.
OBJECT_CREATION_USES_RENAMES = YesPlease

# No other libraries and languages.
NO_CURL = YesPlease
NO_EXPAT = YesPlease
NO_GETTEXT = YesPlease
NO_OPENSSL = YesPlease
NO_PERL = YesPlease
NO_PYTHON = YesPlease
NO_TCLTK = YesPlease
NO_GITWEB = YesPlease

# The system's lacks REG_STARTEND.
NO_REGEX = YesPlease
HAVE_STRINGS_H = YesPlease
HAVE_ALLOCA_H = YesPlease
HAVE_CLOCK_GETTIME = YesPlease
HAVE_CLOCK_MONOTONIC = YesPlease
HAVE_GETDELIM = YesPlease
CSPRNG_METHOD = getentropy

prefix = /usr
SHELL_PATH = /bin/sh
# No tags, no dependencies: it is built once.
COMPUTE_HEADER_DEPENDENCIES = no
