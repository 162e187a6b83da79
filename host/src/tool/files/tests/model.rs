//! Model test: descriptors against a reference that is too simple to be wrong.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Operation of a tool, by numbers: operation, name, other name, descriptor, byte count.
type ModelStep = (u8, usize, usize, usize, u8);

const NAMES: [&str; 4] = ["a", "b", "d/a", "d/b"];

/// Reference model: names to files, and files to bytes.
#[derive(Default)]
struct ReferenceModel {
    names: BTreeMap<&'static str, usize>,
    files: Vec<Vec<u8>>,
    open: Vec<(u32, usize)>,
}

impl ReferenceModel {
    fn act(&mut self, tool: &mut FilesFixture, at: u32, (kind, name, other, open, size): ModelStep) {
        let (name, other) = (NAMES[name % 4], NAMES[other % 4]);
        let bytes = vec![b'a' + size % 26; usize::from(size)];
        let chosen = (!self.open.is_empty()).then(|| self.open[open % self.open.len()]);
        match (kind % 8, chosen) {
            (0, _) | (_, None) => {
                let how = if size.is_multiple_of(3) { "rwct" } else { "rwc" };
                let file = tool.open(at, name, how).expect("granted");
                let id = *self.names.entry(name).or_insert_with(|| {
                    self.files.push(Vec::new());
                    self.files.len() - 1
                });
                if how == "rwct" {
                    self.files[id].clear();
                }
                self.open.push((file, id));
            }
            (1 | 2, Some((file, id))) => {
                let offset = usize::from(size) * 7 % 500;
                tool.write(file, offset as u64, std::str::from_utf8(&bytes).expect("letters")).expect("granted");
                let end = (offset + bytes.len()).max(self.files[id].len());
                if !bytes.is_empty() {
                    self.files[id].resize(end, 0);
                    self.files[id][offset..offset + bytes.len()].copy_from_slice(&bytes);
                }
            }
            (3, Some((file, id))) => {
                let mut writer = tool.writer(file, None).expect("granted");
                writer.write(bytes.clone().into()).expect("room");
                self.files[id].extend(bytes);
            }
            (4, Some((file, id))) => {
                told(tool.view().set_size(handle(file), u64::from(size))).expect("granted");
                self.files[id].resize(usize::from(size), 0);
            }
            (5, _) => assert_eq!(tool.unlink(at, name).is_ok(), self.names.remove(name).is_some()),
            (6, _) => {
                assert_eq!(tool.rename(at, name, at, other).is_ok(), self.names.contains_key(name));
                if let Some(id) = self.names.remove(name) {
                    self.names.insert(other, id);
                }
            }
            (_, Some((file, _))) => {
                tool.close(file);
                self.open.retain(|(open, _)| *open != file);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn descriptors_behave_as_the_reference(acts in prop::collection::vec(any::<ModelStep>(), 1..80)) {
        let mut base = Tree::new(LIMITS, 0);
        base.create_directory("/tmp/d", false, 0).expect("writable");
        let mut tool = FilesFixture::on(base.clone(), &[("/tmp", true)]);
        let (at, mut model) = (tool.at("/tmp"), ReferenceModel::default());
        for act in acts {
            model.act(&mut tool, at, act);
            for (file, id) in &model.open {
                let text = tool.read(*file, 0, u64::MAX).expect("open for reading").0;
                prop_assert_eq!(text.as_bytes(), &model.files[*id], "{:?}", act);
            }
            for (name, id) in &model.names {
                let text = tool.cat(at, name).expect("it is there");
                prop_assert_eq!(text.as_bytes(), &model.files[*id], "{} after {:?}", name, act);
            }
            for (one, id) in &model.open {
                for (other, other_id) in &model.open {
                    let same = tool.view().is_same_object(handle(*one), handle(*other)).expect("no trap");
                    prop_assert_eq!(same, id == other_id);
                }
            }
        }
        base.apply(&tool.files.end().expect("all is in memory")).expect("nothing is in the way");
        for name in NAMES {
            let bytes = base.read_file(&format!("/tmp/{name}")).ok();
            prop_assert_eq!(bytes.as_ref(), model.names.get(name).map(|id| &model.files[*id]));
        }
    }

    #[test]
    fn guest_paths_never_panic_or_leave_the_grant(path in "([/a.lx\\x00é]|\\.\\./|in/){0,12}", other in "\\PC{0,30}") {
        let mut tool = FilesFixture::new(&[("/workspace/in", true)]);
        let at = tool.at("/workspace/in");
        for path in [path, other] {
            let _ = tool.symlink(at, &path, "l");
            let _ = tool.put(at, "l/x", "x");
            let _ = tool.put(at, &path, "x");
            let _ = tool.mkdir(at, &path);
            let _ = tool.stat(at, &path);
            let _ = tool.rename(at, &path, at, "l");
            let _ = tool.rename(at, "a", at, &path);
            let _ = tool.rmdir(at, &path);
            let _ = tool.unlink(at, &path);
            let _ = tool.touch(at, &path);
        }
        for path in tool.changed() {
            prop_assert!(path.starts_with("/workspace/in"), "{}", path);
        }
    }
}
