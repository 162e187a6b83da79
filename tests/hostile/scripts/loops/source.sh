# A file that sources itself.
# status: limited
# error: limit

echo '. ./again' > again
. ./again
