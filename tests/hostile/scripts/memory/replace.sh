# A replacement in a variable that doubles its text.
# status: limited
# error: limit

x=aaaaaaaa
while :; do x=${x//a/aa}; done
