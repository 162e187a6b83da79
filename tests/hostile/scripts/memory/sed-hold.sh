# A hold space in sed that doubles.
# status: limited
# error: limit

echo aaaaaaaa | sed ':a;H;G;ba'
