# A power beyond all numbers: bc answers, or says that it cannot.
# status: completed

echo '9 ^ 9 ^ 9' | bc > /dev/null
