use crate::commands::find::format::{FieldLayout, asks_for, basename, dirname};

#[test]
fn parts_of_paths_are_as_gnu() {
    for (path, directory, name) in
        [("d", ".", "d"), ("/", "", "/"), ("./d", ".", "d"), ("d/", "d", "d/"), ("d/f", "d", "f")]
    {
        assert_eq!((dirname(path), &*basename(path)), (directory, name), "{path}");
    }
}

#[test]
fn directive_behind_a_width_is_found() {
    assert!(asks_for("%p %-5n\\n", 'n'));
    assert!(!asks_for("%p\\n", 'n'));
}

#[test]
fn field_is_cut_and_padded() {
    let field = |is_left, width, precision| FieldLayout { is_left, width, precision }.apply("abc".to_owned());
    assert_eq!(field(true, Some(6), None), "abc   ");
    assert_eq!(field(false, Some(6), None), "   abc");
    assert_eq!(field(false, None, Some(2)), "ab");
}
