# Forty concurrent scripts, as jobs of the shell.
# status: completed

for i in {1..40}; do node -e 'console.log(1)' 2> /dev/null & done
wait
echo on
