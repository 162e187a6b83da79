# A script that replaces itself with itself.
# status: failed
# error: exit

echo 'exec bash ./again' > again
bash ./again
