git stash
echo 1 > f; git add f; git commit -qm one; echo 2 >> f; echo new > n; git stash list
git stash push -m mine
cat f; git stash list
git stash show -p
git stash pop
git add f; git stash -u
ls; git stash apply
git reset -q --hard; git clean -fdq; git stash pop --index
git stash --keep-index; git status -s
git reset -q --hard; git stash pop
git stash drop
git clean -n
git clean -fd
