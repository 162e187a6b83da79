//! Scripts with `tree`, with what `tree` 2.1.0 prints of them.

use crate::commands::testing::run;

const FILES: &str = "mkdir -p p/src/util p/docs p/.git p/empty; echo a > p/src/main.rs; echo bb > p/src/util/x.py; \
                     echo c > p/docs/README.md; echo h > p/.hidden; echo z > p/z.txt; ln -s src/main.rs p/lnk; ";

async fn check(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(&format!("{FILES}{script}")).await;
        let printed = result.stdout.replace('\u{a0}', " ");
        assert_eq!((&*printed, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn tree_counts_the_operand_where_something_is_in_it() {
    check(&[
        ("tree p/src", "p/src\n├── main.rs\n└── util\n    └── x.py\n\n2 directories, 2 files\n", 0),
        ("tree p/empty", "p/empty\n\n0 directories, 0 files\n", 0),
        ("tree p/docs", "p/docs\n└── README.md\n\n1 directory, 1 file\n", 0),
        ("tree -d p/src p/docs", "p/src\n└── util\np/docs\n\n2 directories\n", 0),
        ("tree -a p | tail -1", "6 directories, 6 files\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn tree_patterns_select_files() {
    check(&[
        ("tree -P '*.py' --prune p", "p\n└── src\n    └── util\n        └── x.py\n\n3 directories, 1 file\n", 0),
        ("tree -I 'docs|src|em*' p", "p\n├── lnk -> src/main.rs\n└── z.txt\n\n1 directory, 2 files\n", 0),
        ("tree -L 1 -I 'empty|*.TXT' --ignore-case --noreport p", "p\n├── docs\n├── lnk -> src/main.rs\n└── src\n", 0),
        ("printf 'docs\\n*.txt\\n' > p/.gitignore; tree --gitignore -L 1 p | tail -1", "3 directories, 1 file\n", 0),
        ("tree --matchdirs -P 'src*' --noreport p/src", "p/src\n├── main.rs\n└── util\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn tree_form_is_as_the_options_say() {
    check(&[
        ("tree -fi --noreport p/src", "p/src\np/src/main.rs\np/src/util\np/src/util/x.py\n", 0),
        ("tree -F --dirsfirst -L 1 --noreport p", "p/\n├── docs/\n├── empty/\n├── src/\n├── lnk -> src/main.rs\n└── z.txt\n", 0),
        ("tree -s --noreport p/src", "[       4096]  p/src\n├── [          2]  main.rs\n└── [       4096]  util\n    └── [          3]  x.py\n", 0),
        ("tree -ph --charset=ascii --noreport p/docs", "[drwxr-xr-x 4.0K]  p/docs\n`-- [-rw-r--r--    2]  README.md\n", 0),
        ("tree --metafirst -h --noreport p/docs", "[4.0K]  p/docs\n[   2]  └── README.md\n", 0),
        ("tree -J p/docs", "[\n  {\"type\":\"directory\",\"name\":\"p/docs\",\"contents\":[\n    {\"type\":\"file\",\"name\":\"README.md\"}\n  ]}\n,\n  {\"type\":\"report\",\"directories\":1,\"files\":1}\n]\n", 0),
        ("tree -X --noreport p/docs", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tree>\n  <directory name=\"p/docs\">\n    <file name=\"README.md\"></file>\n  </directory>\n</tree>\n", 0),
        ("tree -r --noreport p/src; tree -o out p; head -1 out", "p/src\n├── util\n│   └── x.py\n└── main.rs\np\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn tree_link_to_a_directory_above_is_not_followed_twice() {
    check(&[
        ("ln -s .. p/src/up; tree -l --noreport -P none p/src", "p/src\n├── up -> ..\n│   ├── docs\n│   ├── empty\n│   └── src\n│       ├── up -> ..  [recursive, not followed]\n│       └── util\n└── util\n", 0),
        ("tree --filelimit 2 p", "p  [5 entries exceeds filelimit, not opening dir]\n\n1 directory, 0 files\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn tree_wrong_call_is_an_error() {
    check(&[
        ("tree none", "none  [error opening dir]\n\n0 directories, 0 files\n", 2),
        ("tree p/z.txt", "p/z.txt  [error opening dir]\n\n0 directories, 1 file\n", 0),
        ("tree -L 0 p 2>&1", "tree: Invalid level, must be greater than 0.\n", 1),
        ("tree -L 2>&1", "tree: Missing argument to -L option.\n", 1),
        ("tree -Z 2>&1 | head -1", "tree: Invalid argument -`Z'.\n", 0),
        ("tree --du p 2>&1", "tree: --du is not supported here\n", 1),
        (
            "tree -C --noreport p/docs; TERM=xterm tree -C p/docs 2>&1",
            "p/docs\n└── README.md\ntree: -C is not supported here while TERM is set\n",
            1,
        ),
    ])
    .await;
}
