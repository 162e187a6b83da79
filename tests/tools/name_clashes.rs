//! Names that two things would have: packages of one short name, and aliases that mean something else in a language.

use tollhouse::tool::names::{Face, Spelling, check_alias, taken_by};
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

/// A home with `my:echo`, which says 7 and has the name of a builtin, and `my:crypto`, which says 8 and has that of a global.
fn home_with_taken_names() -> Home {
    let home = Home::new();
    let said = words(&publish(&home, "my:echo", 7).stderr);
    assert!(
        said.contains(
            "`echo` is a builtin of the shell (`echo`), which cannot be replaced: the shell calls it as `tool echo …`"
        ),
        "{said}"
    );
    let said = words(&publish(&home, "my:crypto", 8).stderr);
    assert!(
        said.contains("`crypto` is a global of JavaScript (`crypto`), which cannot be replaced")
            && said.contains("JavaScript calls its functions `crypto_NAME(…)`"),
        "{said}"
    );
    home
}

/// Message about the shell's face of `my:echo`, mounted as `echo`.
const NO_COMMAND: &str = "`echo` is a builtin of the shell (`echo`) and keeps that meaning: for its tool in the shell, write `tool echo say`";
/// Message about the face in JavaScript of `my:crypto`, mounted as `crypto`.
const NO_GLOBAL: &str = "`crypto` is a global of JavaScript (`crypto`) and keeps that meaning: for its tool in JavaScript, write \
                         `crypto_say(…)`";

#[test]
fn alias_of_builtin_or_global_loses_that_face_only() {
    let home = home_with_taken_names();
    let allow = ["--allow", "**"];
    let script =
        "return [await echo.say(), await echo_say(), await crypto_say(), typeof crypto.randomUUID, typeof crypto.say]";
    assert_eq!(home.js(script, &allow)["value"], serde_json::json!([7, 7, 8, "function", "undefined"]));
    let script = "echo say; tool echo say; tool echo.say; tool echo/say; crypto say; tool crypto.say; type -t echo";
    assert_eq!(home.sh(script, &allow)["stdout"], "say\n7\n7\n7\n8\n8\nbuiltin\n");
    assert_eq!(home.run(["call", "echo/say", "--allow", "echo/*"]).stdout, "7\n");
    assert_eq!(home.run(["call", "crypto/say", "--allow", "crypto/*"]).stdout, "8\n");
}

#[test]
fn lost_faces_are_told_with_what_to_write_instead() {
    let home = home_with_taken_names();
    let tools = home.run(["tools"]);
    assert!(tools.stdout.contains("echo/say") && tools.stdout.contains("crypto/say"), "{tools:?}");
    assert!(!tools.stdout.contains("my-"), "{tools:?}");
    for arguments in [&["tools"][..], &["types"], &["policy", "check"]] {
        let ran = home.run(arguments);
        let notes = words(&ran.stderr);
        assert!(ran.status == 0 && notes.contains(NO_COMMAND) && notes.contains(NO_GLOBAL), "{arguments:?}: {ran:?}");
    }
    let help = home.run(["tools", "echo/say"]);
    assert!(help.stdout.starts_with("Usage: tool echo say\n") && words(&help.stderr).contains(NO_COMMAND), "{help:?}");
    assert!(!words(&help.stderr).contains(NO_GLOBAL), "{help:?}");
    let listed: serde_json::Value = serde_json::from_str(&home.run(["tools", "--json"]).stdout).expect("JSON");
    let faces = |tool: &serde_json::Value| [tool["path"].clone(), tool["command"].clone()];
    let listed: Vec<_> = listed.as_array().expect("a list").iter().map(faces).collect();
    assert_eq!(
        serde_json::json!(listed),
        serde_json::json!([["crypto_say", "crypto say"], ["echo.say", "tool echo say"]])
    );
    let types = home.run(["types"]).stdout;
    assert!(types.contains("declare function crypto_say(): Promise<number>;"), "{types}");
    assert!(types.contains("declare const echo: {") && !types.contains("declare const crypto"), "{types}");
    // Of a script that fails, whoever wrote it may have meant the tool.
    let ran = home.run(["run", "-e", "await crypto.say()", "--allow", "**"]);
    assert!(ran.status == 1 && words(&ran.stderr).contains(NO_GLOBAL), "{ran:?}");
    let ran = home.run(["run", "-e", "await crypto.say()", "--allow", "echo/*"]);
    assert!(ran.status == 1 && !ran.stderr.contains("crypto_say"), "{ran:?}");
}

#[test]
fn alias_of_builtin_is_taken_from_option_and_policy() {
    let home = Home::new();
    publish(&home, "my:shout", 7);
    let run = ["run", "--lang", "sh", "-e", "echo say; tool echo say"];
    let ran = home.run([&run[..], &["--tool", "echo=my:shout", "--allow", "echo/*"]].concat());
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "say\n7\n"), "{ran:?}");
    assert!(words(&ran.stderr).contains(NO_COMMAND), "{ran:?}");
    let policy = "[tools]\necho = \"my:shout\"\nif = \"my:shout\"\nMap = \"my:shout\"\n[[grant]]\nmethod = \"*/say\"\n";
    home.file("policy.toml", policy);
    let policy = ["--policy", "policy.toml"];
    assert_eq!(home.sh("tool echo say; if tool if say; then Map say; fi", &policy)["stdout"], "7\n7\n7\n");
    let script = "return [await echo.say(), await if_say(), await Map_say(), new Map([[1, 2]]).get(1)]";
    assert_eq!(home.js(script, &policy)["value"], serde_json::json!([7, 7, 7, 2]));
    // Mounted is not granted, by whatever name it is called.
    let ran = home.sh("tool echo say; echo $?", &["--tool", "echo=my:shout"]);
    assert_eq!(ran["stdout"], "126\n", "{ran}");
    assert!(ran["stderr"].as_str().is_some_and(|told| told.contains("tool echo say: CapabilityError")), "{ran}");
}

#[test]
fn shell_tells_of_lost_command_by_what_can_be_written() {
    let home = home_with_taken_names();
    let ran = home
        .sh("tool --help echo/say; tool echo --help; tool echo sayy; tool echo say --nothing 1", &["--allow", "**"]);
    let (help, told) = (ran["stdout"].as_str().expect("text"), ran["stderr"].as_str().expect("text"));
    assert!(help.starts_with("Usage: tool echo say\n"), "{ran}");
    assert!(help.contains("Usage: tool echo <command> [flags]"), "{ran}");
    assert!(told.contains("tool echo: there is no `sayy`; did you mean `say`?"), "{ran}");
    assert!(told.contains("hint: `tool echo --help` shows what there is"), "{ran}");
    assert!(told.contains("\ntool echo say: "), "{ran}");
    // The list of methods is as it is.
    assert_eq!(home.sh("tool --list", &["--allow", "**"])["stdout"], "crypto/say\necho/say\n");
}

#[test]
fn tool_never_takes_the_place_of_removed_builtin_or_global() {
    let home = home_with_taken_names();
    let allow = ["--allow", "**"];
    let ran =
        home.sh("enable -n echo; echo say; unset -f echo; command echo say; builtin echo say; tool echo say", &allow);
    assert_eq!(ran["calls"].as_array().map(Vec::len), Some(1), "{ran}");
    let script = "delete globalThis.crypto; return [typeof crypto, 'crypto' in globalThis, await crypto_say()]";
    assert_eq!(home.js(script, &allow)["value"], serde_json::json!(["undefined", false, 8]));
    let listed = "return [listTools().map(tool => tool.name), getToolInfo('crypto_say').method, getToolInfo('crypto/say').method]";
    let expected = serde_json::json!([["crypto_say", "echo.say"], "crypto/say", "crypto/say"]);
    assert_eq!(home.js(listed, &allow)["value"], expected);
}

#[test]
fn program_named_like_builtin_or_global_keeps_its_other_faces() {
    let home = Home::new();
    home.publish_program("wasm32-wasip1");
    let mounted =
        |alias: &str| ["--tool".to_owned(), format!("{alias}=test:prog"), "--allow".to_owned(), alias.to_owned()];
    let as_printf = mounted("printf");
    let as_printf: Vec<&str> = as_printf.iter().map(String::as_str).collect();
    let ran = home.sh("printf args; echo; tool printf --arguments args --arguments a", &as_printf);
    let lines: Vec<&str> = ran["stdout"].as_str().expect("text").lines().collect();
    assert_eq!(lines[0], "args", "{ran}");
    assert!(lines[1].contains(r#"[\"a\"]"#), "{ran}");
    assert_eq!(ran["calls"].as_array().map(Vec::len), Some(1), "{ran}");
    let script = "return (await printf({arguments: ['args', 'a']})).stdout";
    assert_eq!(home.js(script, &as_printf)["value"], "[\"a\"]\n");
    let as_fetch = mounted("fetch");
    let as_fetch: Vec<&str> = as_fetch.iter().map(String::as_str).collect();
    assert_eq!(home.sh("fetch args a", &as_fetch)["stdout"], "[\"a\"]\n");
    let script = "return [(await fetch_({arguments: ['args', 'a']})).stdout, fetch.name]";
    assert_eq!(home.js(script, &as_fetch)["value"], serde_json::json!(["[\"a\"]\n", "fetch"]));
}

/// Returns those of these names that an alias could have, and the face would take.
fn free<'n>(names: impl Iterator<Item = &'n str>, face: Face) -> Vec<&'n str> {
    let is_alias = |name: &&str| check_alias(name, Spelling::Own).is_ok();
    names.filter(is_alias).filter(|name| taken_by(name, Spelling::Own, face).is_none()).collect()
}

#[test]
fn shell_builtins_are_all_known_as_taken() {
    let ran = Home::new().sh("compgen -b; compgen -k; compgen -A function", &[]);
    let names = ran["stdout"].as_str().expect("text");
    assert!(names.lines().count() > 60, "{ran}");
    assert_eq!(free(names.lines(), Face::Command), [""; 0]);
}

#[test]
fn javascript_globals_are_all_known_as_taken() {
    let script =
        "return Object.getOwnPropertyNames(globalThis).concat(Object.getOwnPropertyNames(Object.prototype)).join()";
    for more in [&[][..], &["--session", "s", "--keep-state"]] {
        let ran = Home::new().js(script, more);
        let names = ran["value"].as_str().expect("text");
        assert!(names.split(',').count() > 80, "{ran}");
        assert_eq!(free(names.split(','), Face::Global), [""; 0]);
    }
}
