printf '1\n2\n3\n' > f; git add f; git commit -qm base
git switch -c side; echo 4 >> f; git commit -qam four
git switch main; sed -i s/1/one/ f; git commit -qam one
git merge --no-edit side
git log --graph --oneline --decorate
git branch -vv
git reset --hard HEAD~1
git rebase side
git cherry-pick side
git cherry-pick --abort
git revert --no-edit HEAD
git checkout -q -b x side; echo other > f; git commit -qam o
git merge main
git status
git diff
git ls-files -u
git merge --abort
git branch -d x
git branch -D side
GIT_EDITOR=true git rebase -i HEAD~1
git reflog
git merge-base main HEAD
git switch nowhere
