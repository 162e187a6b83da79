# There are no devices except those of the shell itself.
# status: completed
# stdout: "4\nnone\nno network\n"

echo x > /dev/null; head -c 4 /dev/zero | wc -c; cat /dev/sda /dev/mem /dev/kmsg 2> /dev/null || echo none; echo > /dev/tcp/127.0.0.1/80 2> /dev/null || echo no network
