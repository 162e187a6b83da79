# A replacement in a variable that doubles it.
# status: limited
# error: limit

x=aaaaaaaa
while :; do x=${x//a/aa}; done
