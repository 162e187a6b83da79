//! Work of a script in proportion to what it does: operations whose cost grew with the size of everything around them exceed
//! the fuel given here by far.

use tollhouse_tests::Home;

/// Runs a script that prints one line, within a limit.
fn prints(limit: [&str; 2], code: &str, line: &str) {
    let ran = Home::new().run(["run", limit[0], limit[1], "-e", code]);
    assert_eq!((ran.status, ran.stdout.trim()), (0, line), "{code}\n{}", ran.stderr);
}

#[test]
fn removal_from_a_large_array_leaves_it_fast() {
    // Element by element, each of these takes several minutes.
    let removes = "const a = Array.from({ length: 1e5 }, (_, i) => i);
        for (let i = a.length - 1; i >= 0; i--) if (a[i] % 3 === 0) a.splice(i, 1); return a.length";
    prints(["--timeout", "60s"], removes, "66666");
    let shifts = "const a = Array.from({ length: 1e5 }, (_, i) => i); a.splice(10, 5);
        for (let i = 0; i < 1e4; i++) a.shift(); return a.length";
    prints(["--timeout", "60s"], shifts, "89995");
}

#[test]
fn sort_by_locale_compare_opens_one_collator() {
    let code = "const a = []; for (let i = 0; i < 5000; i++) a.push('n' + (i * 7919 % 5000));
        a.sort((x, y) => x.localeCompare(y)); return a[5]";
    prints(["--fuel", "2500000"], code, "n1001");
}

#[test]
fn digests_and_derived_keys_take_few_steps() {
    let digests = "const c = require('crypto'); let h;
        for (let i = 0; i < 2000; i++) h = c.createHash('sha256').update('a' + i).digest('hex'); return h.length";
    prints(["--fuel", "800000"], digests, "64");
    let key = "return require('crypto').pbkdf2Sync('p', 's', 100000, 32, 'sha256').toString('hex').slice(0, 8)";
    prints(["--fuel", "100000"], key, "fc5ea474");
}

#[test]
fn numbers_in_buffers_take_few_steps() {
    let code = "const b = Buffer.alloc(100); for (let i = 0; i < 1e5; i++) b.writeUInt8(i & 255, i % 100); return b.readUInt8(7)";
    prints(["--fuel", "2600000"], code, "67");
}

#[test]
fn main_script_of_a_file_is_a_module_as_in_node() {
    let home = Home::new();
    let script = home.path().join("main.js");
    let code = "this.x = 1; const same = () => this === module.exports; console.log(same(), module.exports, module.id, module.parent, typeof module.require, require.main === module);
        console.log(Object.keys(require.cache).length, require.cache[__filename] === module, module.paths, module.loaded);
        require('fs').writeFileSync('part.js', 'exports.parent = module.parent.id; exports.here = this === exports; exports.same = module.require(\"./part\") === exports');
        console.log(require('./part'), module.children.length, module.children[0].parent === module, Object.keys(require.cache).length)";
    std::fs::write(&script, code).expect("it is written");
    let ran = home.run(["run", script.to_str().expect("a path of text")]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let expected = "true { x: 1 } . null function true\n1 true [ '/workspace/node_modules', '/node_modules' ] false\n\
        { parent: '.', here: true, same: true } 1 true 2\n";
    assert_eq!(ran.stdout, expected);
    // Text is as that of `node -e`.
    assert_eq!(home.run(["run", "-e", "this.y = 1; return this === globalThis && y"]).stdout.trim(), "1");
    let nested = "require('fs').writeFileSync('a.js', 'console.log(this === module.exports)');
        console.log(require('child_process').execSync('node a.js; node -e \"console.log(this === globalThis)\"', { encoding: 'utf8' }))";
    assert_eq!(home.run(["run", "-e", nested]).stdout.trim(), "true\ntrue");
}
