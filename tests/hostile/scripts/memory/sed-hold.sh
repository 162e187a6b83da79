# A hold space that doubles.
# status: limited
# error: limit

echo aaaaaaaa | sed ':a;H;G;ba'
