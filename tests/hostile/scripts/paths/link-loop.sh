# Links that refer to each other, traversed by recursive commands of the shell.
# status: completed
# stdout: "loop\n"

mkdir -p d/e; ln -s ../.. d/e/up; ln -s x x; ln -s . here
find -L . -name nothing > /dev/null 2>&1; ls -R . > /dev/null; du . > /dev/null 2>&1; grep -r nothing . 2> /dev/null; rm -rf d; cat x 2> /dev/null || echo loop
