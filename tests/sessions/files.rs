//! Files that scripts see: of both guests one tree, and mounts of this machine.

use serde_json::json;
use tollhouse_tests::Home;

#[test]
fn files_written_by_one_guest_are_read_by_the_other() {
    let home = Home::new();
    let code = "await fs.mkdir('a/b', {recursive: true}); await fs.writeFile('a/b/c.txt', 'one\\n');
        await fs.appendFile('a/b/c.txt', new Uint8Array([116, 119, 111]));
        await fs.rename('a/b/c.txt', 'd.txt'); await fs.copyFile('d.txt', '/tmp/e');
        const stat = await fs.stat('d.txt');
        return [await fs.readFile('d.txt'), await fs.readdir('/workspace'), stat.size, stat.isFile(), await fs.exists('a/b/c.txt')]";
    assert_eq!(home.js(code, &[])["value"], json!(["one\ntwo", ["a", "d.txt"], 7, true, false]));
    let code =
        "mkdir -p a/b && printf 'x\\ny\\n' > a/b/c && cat a/b/c | wc -l && cp a/b/c /tmp/d && ls a/b && ls /tmp && pwd";
    let ran = home.sh(code, &[]);
    assert_eq!(
        ran["stdout"].as_str().map(|out| out.split_whitespace().collect::<Vec<_>>().join(" ")).as_deref(),
        Some("2 c d /workspace"),
        "{ran}"
    );
}

#[test]
fn file_errors_have_posix_codes() {
    let home = Home::new();
    let code = "const codes = [];
        for (const act of [() => fs.readFile('nothere'), () => fs.writeFile('/x', ''), () => fs.readFile('/tmp'),
            () => fs.mkdir('/workspace'), () => fs.rmdir('/workspace/../tmp/x'), () => fs.readFile('/workspace/../../../etc/passwd')]) {
            try { await act(); codes.push(null) } catch (e) { codes.push(e.code) }
        }
        return codes";
    assert_eq!(home.js(code, &[])["value"], json!(["ENOENT", "EACCES", "EISDIR", "EEXIST", "ENOENT", "ENOENT"]));
    let ran = home.sh("echo x > /etc/passwd; cat nothere; echo $?", &[]);
    assert_eq!(ran["stdout"], "1\n", "{ran}");
}

#[test]
fn devices_are_where_a_shell_expects_them() {
    let home = Home::new();
    let code = "echo gone > /dev/null; cat /dev/null; cp /dev/null x && wc -c < x; echo tee | tee /dev/null
        grep -c y /dev/null; cat < /dev/null; while read -r l; do echo \"$l\"; done < /dev/null
        head -c 3 /dev/zero | od -An -tx1; head -c 5 /dev/urandom | wc -c; ln -s /dev/null l && cat l && echo link
        echo in | cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr; echo fd >> /dev/fd/2
        ls /dev; test -e /dev/null && echo there; touch /dev/null && echo touched; echo again >> /dev/zero; echo $?";
    let ran = home.sh(code, &[]);
    let words = |name: &str| ran[name].as_str().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let expected = "0 tee 0 00 00 00 5 link in out full null random urandom zero there touched 0";
    assert_eq!(words("stdout").as_deref(), Some(expected), "{ran}");
    assert_eq!(words("stderr").as_deref(), Some("err fd"), "{ran}");
    let code = "return [await fs.exists('/dev/null'), await fs.readdir('/')]";
    assert_eq!(home.js(code, &[])["value"], json!([false, ["tmp", "workspace"]]), "they are the shell's own");
    let ran = home.sh("rm /dev/null || mv x /dev/null || chmod 600 /dev/null || mkdir /dev/null || echo kept", &[]);
    assert!(ran["stdout"].as_str().is_some_and(|text| text.ends_with("kept\n")), "{ran}");
}

#[test]
fn device_files_have_no_end() {
    let code = "head -c 3000000 /dev/zero | wc -c; head -c 3000000 < /dev/urandom | wc -c; cat /dev/zero | head -c 3000000 | wc -c
        { head -c 2000000; head -c 2000000; } < /dev/zero | wc -c; exec 3< /dev/urandom; head -c 100000 <&3 | wc -c
        tr -dc a-z < /dev/urandom | head -c 99999 | wc -c; cat /dev/urandom | tr -dc 0-9 | fold -w 7 | sed -n '9000{p;q}' | wc -c
        base64 /dev/urandom | head -c 99999 | wc -c; base64 -w 0 < /dev/urandom | head -c 99999 | wc -c
        od -An -v -tx1 -w1 -N 70000 /dev/urandom | wc -l; xxd -p -l 70000 < /dev/zero | tr -d '\\n' | wc -c
        hexdump -C -n 70000 /dev/urandom | wc -l; dd if=/dev/zero bs=70000 count=1 2>&- | wc -c
        seq 1000 | shuf --random-source=/dev/urandom | wc -l";
    let expected = "3000000 3000000 3000000 4000000 100000 99999 8 99999 99999 70000 140000 4376 70000 1000";
    let ran = Home::new().sh(code, &[]);
    let words = ran["stdout"].as_str().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!(words.as_deref(), Some(expected), "{ran}");
    assert_eq!(ran["stderr"], "", "{ran}");
}

#[test]
fn device_is_never_taken_for_its_first_bytes() {
    for code in [
        "wc -c /dev/zero",
        "sort /dev/urandom",
        "sort < /dev/urandom",
        "cp /dev/zero f",
        "tail -c 5 /dev/zero",
        "od - < /dev/zero",
        "sha256sum < /dev/zero",
        "base64 -d < /dev/zero",
        "ln -s /dev/zero l; wc -c l",
        "x=$(cat /dev/zero)",
    ] {
        let ran = Home::new().sh(&format!("{code} || echo refused"), &[]);
        assert_eq!(ran["stdout"], "refused\n", "{code}: {ran}");
        assert!(ran["stderr"].as_str().is_some_and(|text| text.contains("has no end")), "{code}: {ran}");
    }
}

#[test]
fn script_input_is_readable_as_dev_stdin() {
    let home = Home::new();
    let input = home.file("input", "one\ntwo\n");
    for code in [
        "while read -r line; do echo \"$line\"; done < /dev/stdin",
        "cat < /dev/stdin",
        "cat < /dev/fd/0",
        "sort /dev/stdin",
        "sed -n p /dev/fd/0",
    ] {
        let mut command = home.command(["run", "--lang", "sh", "-e", code]);
        let output = command.stdin(std::fs::File::open(&input).expect("it was written")).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "one\ntwo\n", "{code}");
    }
}

#[test]
fn descriptor_of_a_file_that_is_gone_says_so() {
    let code = "const fs = require('fs'), told = [];
        for (const gone of [() => fs.unlinkSync('f'), () => { fs.renameSync('f', 'g'); fs.writeFileSync('f', 'another') }]) {
            fs.writeFileSync('f', 'text');
            const fd = fs.openSync('f', 'r+');
            gone();
            for (const use of [() => fs.readFileSync(fd), () => fs.writeSync(fd, 'x'), () => fs.fstatSync(fd), () => fs.ftruncateSync(fd)])
                try { told.push(use()) } catch (e) { told.push(e.code) }
            fs.closeSync(fd)
        }
        return [told.join(' '), fs.readFileSync('f', 'utf8'), fs.readFileSync('g', 'utf8')]";
    let stale = ["ESTALE"; 8].join(" ");
    assert_eq!(Home::new().js(code, &[])["value"], json!([stale, "another", "text"]));
}

#[test]
fn mounts_are_copied_in() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("data/deep")).expect("the home can be written");
    home.file("data/deep/a.txt", "of this machine");
    let code = "const told = [await fs.readFile('/workspace/data/deep/a.txt')];
        try { await fs.writeFile('/workspace/data/deep/a.txt', 'changed') } catch (e) { told.push(e.code) }
        return told";
    assert_eq!(home.js(code, &["--mount", "data:/workspace/data:ro"])["value"], json!(["of this machine", "EACCES"]));
    let code = "await fs.writeFile('/workspace/data/deep/a.txt', 'changed'); return await fs.readFile('/workspace/data/deep/a.txt')";
    assert_eq!(home.js(code, &["--mount", "data:/workspace/data"])["value"], "changed");
    let kept = std::fs::read_to_string(home.path().join("data/deep/a.txt")).expect("it is there");
    assert_eq!(kept, "of this machine");
}

#[test]
fn file_quota_refuses_excess_and_usage_is_reported() {
    let home = Home::new();
    home.file("policy.toml", "[limits]\nfiles = '1MiB'\n");
    let code = "try { await fs.writeFile('big', 'x'.repeat(2 * 1024 * 1024)) } catch (e) { 
        await fs.writeFile('small', 'fits'); return [e.code, await fs.readFile('small')] }";
    assert_eq!(home.js(code, &["--policy", "policy.toml"])["value"], json!(["EDQUOT", "fits"]));
    let ran = home.js("await fs.writeFile('a', 'abc'); return null", &[]);
    assert_eq!(ran["usage"]["file_bytes"], 3);
}
