git commit -m nothing
git log
git checkout nope
git add nope
git commit --allow-empty -m empty
git config user.name N; git config --list --local | grep user; git config --get nope
git -C .. status
git bogus
git worktree add ../w
git worktree list --porcelain | grep branch
git bundle create -q ../b --all; git clone -q ../b ../c; git -C ../c log --oneline; git -C ../c branch -a
git gc -q; git count-objects -v | grep in-pack; git fsck
ln -s x l; git add l; git ls-files -s
git archive HEAD | wc -c
git update-index --chmod=+x nope
git commit
(mkdir gone; cd gone; rmdir ../gone; git status; git -C "$HOME/../repo" log -1 --oneline; git -C "$HOME/../repo" stash list)
