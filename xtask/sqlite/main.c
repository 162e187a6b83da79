/* How the shell of SQLite begins as a program for WASI. SQLite makes each path absolute, and WASI says no working
** directory: the C library takes `/` for it, so that `../a.db` would be another file. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int sqlite3_shell_main(int argc, char **argv);

/* Returns true if a path is that of the directory that the program works in. */
static int is_here(const char *path, const struct stat *here){
  struct stat there;
  return path && path[0]=='/' && stat(path, &there)==0 && there.st_dev==here->st_dev && there.st_ino==here->st_ino;
}

/* Closes the descriptor of the working directory, the last of those that a program begins with. The C library takes it
** for whatever no other one is above of, `/a.db` among it, which is an error then. */
static void leave(const struct stat *here){
  struct stat last;
  int fd = 3;
  while( fstat(fd+1, &last)==0 ) fd++;
  if( fstat(fd, &last)==0 && last.st_dev==here->st_dev && last.st_ino==here->st_ino ) close(fd);
}

int main(int argc, char **argv){
  struct stat here;
  if( stat(".", &here)==0 ){
    const char *directory = getenv("PWD");
    if( !is_here(directory, &here) ) directory = "/workspace";
    if( !is_here(directory, &here) || chdir(directory) ){
      fprintf(stderr, "%s: the variable PWD does not name the working directory, which it must\n", argv[0]);
      return 1;
    }
    leave(&here);
  }
  return sqlite3_shell_main(argc, argv);
}
