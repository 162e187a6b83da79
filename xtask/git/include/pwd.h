/* What git uses of it is declared in ../wasi.h. */
