# There is no network access in the shell, except through the tool that has it.
# status: completed
# stdout: "on\n"

for c in curl wget nc ssh ping telnet; do $c http://127.0.0.1:1 > /dev/null 2>&1 && echo $c; done; echo on
