printf 'a\nb\n' > f; git add f; git commit -qm one; echo c >> f; git diff > ../p; git checkout -- f
git apply --stat ../p; git apply ../p
git apply ../p
git apply -R ../p; git status -s; git apply --index ../p; git commit -m two
git format-patch -1 --stdout > ../m; git reset --hard HEAD~1
git am ../m
git log --oneline; git mv f g; git status -s
git rm --cached g; git status -s
git restore --staged g; git restore g; git reset
printf '*.o\n' > .gitignore; touch a.o; git status -s --ignored; git check-ignore -v a.o
git grep -n b
echo z >> f; printf 'y\n' | git add -p
git notes add -m n; git log -1
git rm f
git commit --amend --no-edit
