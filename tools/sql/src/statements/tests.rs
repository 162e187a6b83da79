//! Tests of results and of refused statements.

use std::fs;

use super::*;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self) -> String {
        self.0.path().join("a.db").display().to_string()
    }
}

fn ask(sql: &str) -> Result<Rows, Error> {
    query(Question { sql, limit: 100, ..Question::default() })
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> Kind {
    result.expect_err("it is refused").kind
}

fn run(path: &str, sql: &str) -> Result<Changes, Error> {
    execute(path, sql, &[], true)
}

#[test]
fn values_keep_their_types() {
    let parameters = vec![
        Value::Null,
        Value::Integer(i64::MAX),
        Value::Real(0.5),
        Value::Text("ä'; drop table x".into()),
        Value::Blob(vec![0, 255]),
    ];
    let question = Question {
        sql: "select ?1 a, ?2 b, ?3 c, ?4 d, ?5 e",
        parameters: parameters.clone(),
        limit: 1,
        ..Question::default()
    };
    let rows = query(question).expect("rows");
    assert_eq!((rows.columns.join(""), &rows.rows[0]), ("abcde".to_owned(), &parameters));
    let expected = r#"[{"a":null,"b":9223372036854775807,"c":0.5,"d":"ä'; drop table x","e":"AP8="}]"#;
    assert_eq!(rows.records().expect("JSON"), expected);
    for count in [0, 2] {
        let question =
            Question { sql: "select ?1", parameters: vec![Value::Null; count], limit: 1, ..Question::default() };
        assert_eq!(kind(query(question)), Kind::Parameter);
    }
}

#[test]
fn changes_are_kept_all_or_none() {
    let place = Place::new();
    let path = place.path();
    let made =
        run(&path, "create table cars(name text unique, mpg real); insert into cars values ('VW', 26), ('Saab', 25.5)");
    assert_eq!(made, Ok(Changes { rows: 2, last_id: 2 }));
    let before = fs::read(&path).expect("a file");
    assert_eq!(
        kind(run(&path, "insert into cars values ('Fiat', 30); insert into cars values ('VW', 1)")),
        Kind::Constraint
    );
    assert_eq!(kind(run(&path, "delete from cars; select nothing")), Kind::Sql);
    assert_eq!(fs::read(&path).expect("a file"), before);
    let one = execute(
        &path,
        "update cars set mpg = ?1 where name = ?2",
        &[Value::Integer(27), Value::Text("VW".into())],
        true,
    );
    assert_eq!(one.map(|changes| changes.rows), Ok(1));
    let rows = query(Question {
        sql: "select mpg from cars order by name",
        path: Some(&path),
        limit: 9,
        ..Question::default()
    });
    assert_eq!(rows.expect("rows").rows, [[Value::Real(25.5)], [Value::Real(27.0)]]);
    let found = schema(&path).expect("a schema");
    assert_eq!((found[0].name.as_str(), found[0].columns[1].clone()), ("cars", ("mpg".to_owned(), "REAL".to_owned())));
    assert_eq!(kind(execute("/nothing/here", "select 1", &[], false)), Kind::NotFound);
}

#[test]
fn rows_passed_are_inserted_as_a_table() {
    let rows = Rows {
        columns: vec!["a b".into(), "x\"y".into()],
        rows: vec![vec![Value::Integer(1), Value::Text("one".into())], vec![Value::Integer(2), Value::Null]],
    };
    let place = Place::new();
    run(&place.path(), "create table t(n); insert into t values (2)").expect("made");
    let path = place.path();
    let question = Question {
        sql: "select \"x\"\"y\" is null from p join t on t.n = p.\"a b\"",
        path: Some(&path),
        tables: vec![("p".into(), rows.clone())],
        limit: 9,
        ..Question::default()
    };
    assert_eq!(query(question).expect("rows").rows, [[Value::Integer(1)]]);
    assert_eq!(insert(&path, "new \"table\"", &rows, true).map(|changes| changes.rows), Ok(2));
    assert_eq!(schema(&path).expect("a schema")[0].name, "new \"table\"");
    let twice = vec![("p".into(), rows.clone()), ("p".into(), rows)];
    assert_eq!(kind(query(Question { sql: "select 1", tables: twice, limit: 9, ..Question::default() })), Kind::Sql);
    let ragged = Rows { columns: vec!["a".into()], rows: vec![vec![]] };
    assert_eq!(kind(insert(&path, "r", &ragged, true)), Kind::Parameter);
}

#[test]
fn full_text_tables_and_views_are_queried_and_listed() {
    let place = Place::new();
    let path = place.path();
    let made = "create virtual table texts using fts5(body); insert into texts values ('hello world'), ('bye'); \
                create virtual table boxes using rtree(id, low, high); insert into boxes values (1, 2, 3); \
                create table gone(a); create view broken as select a from gone; drop table gone";
    run(&path, made).expect("made");
    for (sql, found) in [
        ("select body from texts where texts match 'hello'", Value::Text("hello world".into())),
        ("select id from boxes where low < 2.5", Value::Integer(1)),
    ] {
        let rows = query(Question { sql, path: Some(&path), limit: 9, ..Question::default() });
        assert_eq!(rows.expect("rows").rows, [[found]]);
    }
    let relations = schema(&path).expect("a schema");
    let broken = relations.iter().find(|one| one.name == "broken").expect("it is listed");
    assert!(broken.view && broken.columns.is_empty() && broken.sql.starts_with("CREATE VIEW"));
}

#[test]
fn statement_leading_out_of_the_database_is_refused() {
    let place = Place::new();
    let path = place.path();
    run(&path, "create table t(n)").expect("made");
    let other = place.0.path().join("other.db");
    for sql in [
        format!("attach '{}' as other", other.display()),
        format!("vacuum into '{}'", other.display()),
        "vacuum".into(),
        "select load_extension('x')".into(),
        "pragma journal_mode = wal".into(),
        "pragma temp_store_directory = '/'".into(),
        "pragma writable_schema = on".into(),
        "pragma hard_heap_limit = 0".into(),
        "commit".into(),
        "begin; rollback".into(),
        "savepoint a".into(),
        "create virtual table c using csv(filename='/etc/passwd')".into(),
    ] {
        let told = run(&path, &sql).expect_err(&sql);
        assert!(matches!(told.kind, Kind::Forbidden | Kind::Sql), "{sql}: {told}");
    }
    assert!(!other.exists());
    for sql in [
        "insert into t values (1)",
        "drop table t",
        "create temp table x(a)",
        "delete from t",
        "pragma user_version = 2",
    ] {
        let question = Question { sql, path: Some(&path), limit: 9, ..Question::default() };
        assert_eq!(kind(query(question)), Kind::Forbidden, "{sql}");
    }
    assert!(ask("select * from pragma_table_list").is_ok());
}

#[test]
fn sql_bombs_are_errors() {
    let many = "with recursive c(n) as (select 1 union all select n + 1 from c) select n from c";
    assert_eq!(kind(ask(many)), Kind::TooLarge);
    assert_eq!(kind(ask("select zeroblob(100000000)")), Kind::TooLarge);
    assert_eq!(
        kind(ask(
            "with recursive c(n) as (select zeroblob(8000000) union all select n from c limit 90) select n from c"
        )),
        Kind::TooLarge
    );
    let named = format!(
        "with recursive c(n) as (select 1 union all select n + 1 from c limit 90) select n \"{}\" from c",
        "x".repeat(500_000)
    );
    assert_eq!(kind(ask(&named).expect("few values").records()), Kind::TooLarge);
    let deep = format!("select {}1", "- ".repeat(2000));
    assert_eq!(kind(ask(&deep)), Kind::Sql);
    let place = Place::new();
    let grow = "create table t(b); with recursive c(n) as (select 1 union all select n + 1 from c limit 10) insert into t select zeroblob(8000000) from c";
    assert_eq!(kind(run(&place.path(), grow)), Kind::TooLarge);
    assert!(!std::path::Path::new(&place.path()).exists(), "nothing is written");
}

#[test]
fn file_that_is_no_database_is_refused() {
    let place = Place::new();
    let path = place.path();
    run(&path, "create table t(n); insert into t values (1)").expect("made");
    let good = fs::read(&path).expect("a file");
    fs::write(&path, b"hello").expect("written");
    assert_eq!(kind(schema(&path)), Kind::Damaged);
    for place in (0..good.len()).step_by(11) {
        let mut bad = good.clone();
        bad[place] ^= 0x55;
        fs::write(&path, &bad).expect("written");
        // Any result is fine, but not a panic.
        let _ = run(&path, "insert into t values (2); select * from t");
        let _ = schema(&path);
    }
    let mut wal = good.clone();
    (wal[18], wal[19]) = (2, 2);
    fs::write(&path, &wal).expect("written");
    assert!(schema(&path).is_ok());
    for beside in ["-wal", "-journal"].map(|end| format!("{path}{end}")) {
        fs::write(&beside, b"").expect("written");
        assert!(schema(&path).is_ok());
        fs::write(&beside, b"x").expect("written");
        assert_eq!(kind(schema(&path)), Kind::Damaged);
        fs::remove_file(&beside).expect("removed");
    }
    let told = ask("select nowhere").expect_err("no such column").message;
    assert!(told.contains("no such column: nowhere") && told.contains("byte 7"), "{told}");
    for sql in ["", "  -- nothing", "select 1; select 2", "selec 1", "select nothing"] {
        assert_eq!(kind(ask(sql)), Kind::Sql, "{sql}");
    }
}
