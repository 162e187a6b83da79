//! Names that two things would have: packages of one short name, and aliases that a language has taken.

use tollhouse_tests::{Home, Ran, components};

/// Publishes a component with one function `say`, which gives a number; the publisher's words on standard error.
fn publish(home: &Home, name: &str, number: u32) -> Ran {
    let wit = format!("package {name}; interface api {{ say: func() -> u32; }} world tool {{ export api; }}");
    let module = format!("(module (func (export \"{name}/api#say\") (result i32) (i32.const {number})))");
    let directory = home.path().join(name.replace(':', "-"));
    std::fs::create_dir_all(&directory).expect("the home can be written");
    std::fs::write(directory.join("it.wasm"), components::encode(&wit, "tool", &module)).expect("it can be written");
    let manifest = format!("name = \"{name}\"\nversion = \"1.0.0\"\ncomponent = \"it.wasm\"\n");
    std::fs::write(directory.join("tool.toml"), manifest).expect("it can be written");
    let ran = home.run(["publish", &directory.display().to_string()]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran
}

/// Words, wherever the lines are broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn packages_of_one_short_name_are_mounted_by_their_full_names() {
    let home = Home::new();
    publish(&home, "first:count", 1);
    assert_eq!(home.js("return await count.say()", &["--allow", "count/*"])["value"], 1);
    let said = words(&publish(&home, "second:count", 2).stderr);
    assert!(said.contains("`count` could be `first:count` or `second:count`"), "{said}");
    let tools = home.run(["tools"]);
    assert!(tools.stdout.contains("first-count/say") && tools.stdout.contains("second-count/say"), "{tools:?}");
    assert!(tools.stderr.contains("`count` could be") && tools.stderr.contains("--tool count="), "{tools:?}");
    let both = "return [await firstCount.say(), await secondCount.say()]";
    assert_eq!(home.js(both, &["--allow", "**"])["value"], serde_json::json!([1, 2]));
    // The short name is explained wherever it is used.
    for arguments in [
        &["run", "-e", "1", "--allow", "count/*"][..],
        &["call", "count/say", "--allow", "count/*"],
        &["tools", "count/say"],
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(words(&ran.stderr).contains("`second:count` (mounted as `second-count`)"), "{arguments:?}: {ran:?}");
    }
    // It can be given to one of them; the other keeps its full name.
    let given = ["--tool", "count=second:count", "--allow", "**"];
    assert_eq!(
        home.js("return [await count.say(), await firstCount.say()]", &given)["value"],
        serde_json::json!([2, 1])
    );
}

#[test]
fn package_whose_name_is_taken_is_mounted_by_its_full_name() {
    let home = Home::new();
    let said = words(&publish(&home, "my:echo", 7).stderr);
    assert!(said.contains("`echo` is a builtin of the shell") && said.contains("is mounted as `my-echo`"), "{said}");
    publish(&home, "my:crypto", 8);
    let tools = home.run(["tools"]);
    assert!(tools.stdout.contains("my-echo/say") && tools.stdout.contains("my-crypto/say"), "{tools:?}");
    let notes = words(&tools.stderr);
    assert!(
        notes.contains("`echo` is a builtin of the shell (`echo`), and not `my:echo` (mounted as `my-echo`)"),
        "{notes}"
    );
    let allow = ["--allow", "**"];
    assert_eq!(
        home.js("return [await myEcho.say(), await myCrypto.say()]", &allow)["value"],
        serde_json::json!([7, 8])
    );
    assert_eq!(home.sh("echo say; my-echo say", &allow)["stdout"], "say\n7\n");
    let ran = home.run(["tools", "echo"]);
    assert!(ran.status == 2 && words(&ran.stderr).contains("mounted as `my-echo`"), "{ran:?}");
    assert_eq!(home.run(["call", "shout/say", "--tool", "shout=my:echo", "--allow", "**"]).stdout, "7\n");
}
