# A read-only mount cannot be changed by commands of the shell.
# status: completed
# stdout: "given\n"

{ echo x > data/given; rm -rf data; mv data moved; ln -s data l; echo x > l/given; cd data; echo x > new; chmod 777 given; touch given; sed -i s/g/h/ given; } 2> /dev/null
cat /workspace/data/given
