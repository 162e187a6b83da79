//! The tools that work on files, pages, pictures, databases and money, each published to a fresh registry and called from JavaScript
//! and from the shell. Of each something is refused: a bomb, a path, a permission.

use serde_json::{Value, json};
use tollhouse_tests::{Home, root};

/// A home with one of the tools, and a policy that grants its functions and to the tool what `table` says.
fn home(tool: &str, table: &str) -> Home {
    let home = Home::with_tools(&[tool]);
    home.file("policy.toml", format!("[[grant]]\nmethod = \"**\"\n[tool.{tool}]\n{table}\n"));
    home.file("bare.toml", "[[grant]]\nmethod = \"**\"\n");
    home
}

/// Returns the value of a script in JavaScript. `told` in it gives the kind of an error.
fn js(home: &Home, policy: &str, code: &str) -> Value {
    let told = "const told = async (call) => { try { await call } catch (error) { return error.payload?.kind ?? error.message } };";
    let ran = home.js(&format!("{told}\n{code}"), &["--policy", policy]);
    assert_eq!(ran["status"], "completed", "{ran}");
    ran["value"].clone()
}

/// Returns the output of a script in bash.
fn sh(home: &Home, code: &str) -> String {
    let ran = home.sh(code, &["--policy", "policy.toml"]);
    assert_eq!(ran["status"], "completed", "{ran}");
    ran["stdout"].as_str().or_else(|| ran["output"].as_str()).unwrap_or_else(|| panic!("{ran}")).trim().to_owned()
}

const FILES: &str = "files = [\"/workspace\"]";

#[test]
fn payments_refund_no_more_than_was_charged() {
    let home = home("payments", "keyvalue = [\"default\"]");
    let code = "
        const charge = await payments.charges.create({ amount: 500, currency: 'usd', idempotencyKey: 'order-7' });
        const again = await payments.charges.create({ amount: 500, currency: 'USD', idempotencyKey: 'order-7' });
        const other = await told(payments.charges.create({ amount: 501, currency: 'USD', idempotencyKey: 'order-7' }));
        // Five at once, of which two fit.
        const refunds = await Promise.allSettled([1, 2, 3, 4, 5].map(() =>
            payments.refunds.create({ chargeId: charge.id, amount: 200 })));
        const fine = refunds.filter((refund) => refund.status === 'fulfilled').length;
        const kinds = new Set(refunds.filter((one) => one.status === 'rejected').map((one) => one.reason.payload.kind));
        const now = await payments.charges.retrieve({ chargeId: charge.id });
        return [charge.display, again.id === charge.id, other, fine, [...kinds], now.amountRefunded,
            await told(payments.charges.create({ amount: 5, currency: 'USD', card: 'expired' })),
            (await payments.charges.list({ status: 'captured' })).charges.length]";
    let expected = json!(["5.00 USD", true, "idempotency", 2, ["exceeds-charge"], 400, "declined", 1]);
    assert_eq!(js(&home, "policy.toml", code), expected);
    let code = "payments charges create --amount 500 --currency JPY --no-capture > charge
        payments charges capture --charge-id \"$(jq -r .id charge)\" --amount 300 | jq -c '[.display, .status, .amountCaptured]'";
    assert_eq!(sh(&home, code), "[\"500 JPY\",\"captured\",300]");
}

#[test]
fn payments_stay_in_their_session_and_need_its_store() {
    let home = home("payments", "keyvalue = [\"default\"]");
    let create = "return await told(payments.charges.create({ amount: 1, currency: 'USD' }))";
    assert_eq!(js(&home, "bare.toml", create), "denied");
    let first = home.js(
        "return (await payments.charges.create({ amount: 9, currency: 'EUR' })).id",
        &["--policy", "policy.toml", "--session", "shop"],
    );
    assert_eq!(first["value"], "ch-1", "{first}");
    let code = "return (await payments.refunds.create({ chargeId: 'ch-1' })).display";
    assert_eq!(home.js(code, &["--policy", "policy.toml", "--session", "shop"])["value"], "0.09 EUR");
    assert_eq!(
        js(&home, "policy.toml", "return await told(payments.charges.retrieve({ chargeId: 'ch-1' }))"),
        "not-found"
    );
}

/// The seed's example, under the seed's name: see its README.
#[test]
fn payments_stand_in_for_the_processor_of_the_seed() {
    let home = Home::with_tools(&["payments"]);
    home.file(
        "policy.toml",
        "[tools]\nstripe = \"tollhouse:payments\"\n[[grant]]\nmethod = \"stripe/charges/*\"\n\
         where = [{ param = \"amount\", le = 10000 }, { param = \"currency\", in = [\"USD\", \"EUR\"] }]\n\
         [tool.stripe]\nkeyvalue = [\"default\"]\n",
    );
    let code = "const made = await stripe.charges.create({amount: 500, currency: \"USD\"});
        try { await stripe.charges.create({amount: 50000, currency: \"USD\"}) } catch (error) { return [made.status, error.name] }";
    assert_eq!(js(&home, "policy.toml", code), json!(["captured", "CapabilityError"]));
}

#[test]
fn archives_are_made_and_extracted_within_what_is_granted() {
    let home = home("archive", FILES);
    let code = "
        const bytes = await archive.pack({ format: 'zip', entries: [{ name: 'a/b.txt', text: 'hello' }] });
        const [one] = await archive.extract({ bytes, to: '/workspace/out' });
        await archive.create({ to: '/workspace/all.tgz', paths: ['/workspace/out'] });
        const names = (await archive.list({ path: '/workspace/all.tgz' })).map((entry) => entry.name);
        const read = await archive.read({ path: '/workspace/all.tgz', name: 'out/a/b.txt' });
        return [one.path, await fs.readFile('out/a/b.txt'), names, new TextDecoder().decode(Uint8Array.from(read)),
            await told(archive.extract({ bytes, to: '/workspace/out' })),
            await told(archive.extract({ bytes, to: '/tmp/out' }))]";
    let expected = json!(["/workspace/out/a/b.txt", "hello", ["out/a/b.txt"], "hello", "exists", "denied"]);
    assert_eq!(js(&home, "policy.toml", code), expected);
    let code = "echo one > a.txt; archive create --to /workspace/a.zip --paths '[\"/workspace/a.txt\"]' | jq .files
        rm a.txt; archive extract --path /workspace/a.zip --to /workspace > /dev/null; cat a.txt";
    assert_eq!(sh(&home, code), "1\none");
    let code = "const bytes = await archive.pack({ format: 'tar', entries: [{ name: 'a', text: 'x' }] });
        return await told(archive.extract({ bytes, to: '/workspace/out' }))";
    assert_eq!(js(&home, "bare.toml", code), "denied");
}

#[test]
fn archives_that_lead_out_or_explode_write_nothing() {
    let home = home("archive", FILES);
    let code = "
        const patch = (bytes, from, to) => {
            const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('').replaceAll(from, to);
            return Array.from(text, (letter) => letter.charCodeAt(0));
        };
        const evil = patch(await archive.pack({ format: 'zip', entries: [{ name: 'xxxevil', text: 'harm' }] }), 'xxxevil', '../evil');
        const bomb = await archive.pack({ format: 'tar-gz', entries: [{ name: 'zeros', text: '\\0'.repeat(4 << 20) }] });
        const refused = async (arguments_) => {
            try { await archive.extract({ to: '/workspace/out', ...arguments_ }) } catch (error) { return [error.payload.kind, error.payload.entry] }
        };
        return [bomb.length < 10000, await refused({ bytes: evil }), await refused({ bytes: bomb, bounds: { bytes: 1 << 20 } }),
            (await fs.readdir('/workspace')).length]";
    assert_eq!(js(&home, "policy.toml", code), json!([true, ["unsafe-name", "../evil"], ["too-large", "zeros"], 0]));
}

#[test]
fn html_is_read_and_its_bombs_are_not() {
    let home = home("html", "");
    home.file("policy.toml", "[[grant]]\nmethod = \"html/*\"\n");
    let code = "
        const page = '<title>Cars</title><main><h1>Cars</h1><a href=\"vw?x=1\">VW</a>' +
            '<table><tr><th>car<th>mpg<tr><td>VW<td>26</table></main><script>alert(1)</script>';
        return [(await html.select({ html: page, selector: 'main > h1' }))[0].text,
            await html.toText({ html: page, selector: 'main' }),
            (await html.links({ html: page, base: 'https://example.com/cars/' }))[0].url,
            (await html.tables({ html: page }))[0].rows,
            (await html.metadata({ html: page })).title,
            await told(html.select({ html: page, selector: 'main >' })),
            await told(html.tables({ html: '<table>' + `<tr><td colspan=1000 rowspan=65534>${'x'.repeat(1000)}`.repeat(60) }))]";
    let text = "Cars\n\nVW\n\ncar\tmpg\nVW\t26";
    let expected =
        json!(["Cars", text, "https://example.com/cars/vw?x=1", [["VW", "26"]], "Cars", "selector", "too-large"]);
    assert_eq!(js(&home, "policy.toml", code), expected);
    assert_eq!(sh(&home, "html to-text --html '<p>One<p>Two' | jq -r . | tail -1"), "Two");
}

/// A PNG of a few bytes that says it has 50,000 by 50,000 pixels.
const BOMB: &str = "[137,80,78,71,13,10,26,10,0,0,0,13,73,72,68,82,0,0,195,80,0,0,195,80,8,2,0,0,0,196,205,170,157,0,0,0,0,73,68,65,84,53,175,6,30,\
    0,0,0,0,73,69,78,68,174,66,96,130]";

#[test]
fn images_are_shrunk_and_pixel_bombs_refused() {
    let home = home("image", FILES);
    let code = "
        const pixel = PIXEL;
        const large = await image.resize({ bytes: pixel, width: 64, height: 32, fit: 'stretch', output: { to: '/workspace/large.png' } });
        const small = await image.thumbnail({ path: '/workspace/large.png', edge: 16 });
        const webp = await image.convert({ path: '/workspace/large.png', format: 'webp' });
        const told_ = await told(image.dimensions({ bytes: BOMB }));
        return [[large.width, large.height], [small.width, small.height], (await image.dimensions({ bytes: webp.bytes })).format,
            told_, await told(image.thumbnail({ bytes: BOMB })), await told(image.dimensions({ bytes: [1, 2, 3] })),
            await told(image.convert({ bytes: pixel, format: 'jpeg', output: { to: '/tmp/x.jpg' } }))]";
    let code = code.replace("PIXEL", PIXEL).replace("BOMB", BOMB);
    let expected = json!([[64, 32], [16, 8], "webp", "too-large", "too-large", "format", "denied"]);
    assert_eq!(js(&home, "policy.toml", &code), expected);
    let code = format!(
        "image convert --bytes '{PIXEL}' --format jpeg --output '{{\"to\":\"/workspace/a.jpg\"}}' > /dev/null
        image dimensions --path /workspace/a.jpg | jq -c '[.format, .width, .height]'"
    );
    assert_eq!(sh(&home, &code), "[\"jpeg\",2,1]");
}

/// A PNG of two pixels.
const PIXEL: &str = "[137,80,78,71,13,10,26,10,0,0,0,13,73,72,68,82,0,0,0,2,0,0,0,1,8,2,0,0,0,123,64,232,221,0,0,0,11,73,68,65,84,120,156,99,96,0,3,0,0,7,0,1,178,134,172,244,0,0,0,0,73,69,78,68,174,66,96,130]";

#[test]
fn sql_queries_and_changes_databases_all_or_nothing() {
    let home = home("sql", FILES);
    let code = "
        const path = '/workspace/cars.db', text = (val) => ({ tag: 'text', val }), real = (val) => ({ tag: 'real', val });
        const cars = { name: 'cars', columns: ['name', 'mpg'], rows: [['VW', 26], ['Saab', 25.5], ['Fiat', 31]].map(([name, mpg]) => [text(name), real(mpg)]) };
        const made = await sql.insert({ path, table: cars });
        await sql.execute({ path, sql: 'create unique index names on cars(name)' });
        const tables = [{ name: 'makers', columns: ['name', 'land'], rows: [[text('VW'), text('DE')], [text('Saab'), text('SE')]] }];
        const joined = await sql.records({ path, tables, parameters: [real(25.7)],
            sql: 'select land, mpg from cars join makers using (name) where mpg > ?1' });
        const twice = await told(sql.execute({ path, sql: \"delete from cars; insert into cars values ('A', 1), ('A', 2)\" }));
        const left = (await sql.query({ path, sql: 'select count(*) from cars' })).rows[0][0].val;
        return [made.rows, JSON.parse(joined), twice, left, (await sql.schema({ path })).map((one) => one.name),
            (await fs.readdir('/workspace')).join(), await told(sql.query({ path: '/tmp/cars.db', sql: 'select 1' })),
            await told(sql.execute({ path: '/tmp/cars.db', sql: 'create table t(x)' }))]";
    let expected = json!([3, [{ "land": "DE", "mpg": 26 }], "constraint", 3, ["cars"], "cars.db", "denied", "denied"]);
    assert_eq!(js(&home, "policy.toml", code), expected);
    let code = "sql execute --path /workspace/a.db --sql 'create table t(x); insert into t values (7), (8)' | jq .rows
        sql records --path /workspace/a.db --sql 'select sum(x) as all_of_them from t' | jq -r .";
    assert_eq!(sh(&home, code), "2\n[{\"all_of_them\":15}]");
    let code = "return await told(sql.execute({ path: '/workspace/a.db', sql: 'create table t(x)' }))";
    assert_eq!(js(&home, "bare.toml", code), "denied");
}

#[test]
fn sql_statement_leading_out_or_endless_is_refused() {
    let home = home("sql", FILES);
    let endless = "with recursive c(n) as (select 1 union all select n + 1 from c)";
    let code = "
        const path = '/workspace/a.db', ask = (sql_) => told(sql.query({ sql: sql_ })), change = (sql_) => told(sql.execute({ path, sql: sql_ }));
        return [await change(\"attach '/workspace/b.db' as b\"), await change(\"vacuum into '/workspace/b.db'\"),
            await change('pragma hard_heap_limit = 0'), await ask(\"select load_extension('x')\"), await ask('create table t(x)'),
            await ask('ENDLESS select n from c'), await ask('ENDLESS select zeroblob(9000000) from c'),
            await change('create table t(b); ENDLESS insert into t select zeroblob(9000000) from c'),
            await ask('select ' + '- '.repeat(5000) + '1'),
            (await fs.readdir('/workspace')).length]";
    let expected =
        json!(["forbidden", "sql", "forbidden", "sql", "forbidden", "too-large", "too-large", "too-large", "sql", 0]);
    assert_eq!(js(&home, "policy.toml", &code.replace("ENDLESS", endless)), expected);
    let code = format!(
        "const told = await sql.query({{ sql: '{endless} select count(*) from c' }}).catch((error) => error.message);
        return [told, JSON.parse(await sql.records({{ sql: 'select 1 as one' }}))]"
    );
    let ran = home.js(&code, &["--policy", "policy.toml", "--limit", "tool_wall=1s"]);
    assert!(ran["value"][0].as_str().is_some_and(|told| told.contains("1000 ms")), "{ran}");
    assert_eq!(ran["value"][1], json!([{ "one": 1 }]), "the tool works afterwards: {ran}");
}

#[test]
fn charts_are_drawn_where_they_may_and_no_larger() {
    let home = home("chart", FILES);
    let code = "
        const series = [{ name: 'price', y: [3, 1, 2] }];
        const svg = (await chart.line({ series, options: { title: 'Prices & more' } })).svg;
        const file = await chart.histogram({ values: [1, 2, 2, 3, 3, 3], options: { path: '/workspace/all.png' } });
        const { png } = await chart.bar({ labels: ['VW', 'Saab'], series: [{ values: [26, -25.5] }], options: { format: 'png' } });
        const numbers = (count) => Array.from({ length: count }, (_, place) => place % 977);
        const all = await chart.line({ series: [{ y: numbers(10000) }], options: { format: 'png', width: 4000, height: 4000, path: '/workspace/large' } });
        return [svg.startsWith('<svg') && svg.includes('Prices &amp; more') && svg.includes('price'), file.format,
            (await fs.stat('/workspace/all.png')).size === file.size, String.fromCharCode(...png.slice(1, 4)), all.size > 10000,
            await told(chart.line({ series, options: { width: 4001 } })), await told(chart.line({ series, options: { height: 4294967295 } })),
            await told(chart.bar({ labels: Array(1001).fill('a'), series: [{ values: numbers(1001) }] })), await told(chart.scatter({ series: Array(22).fill({ y: [1] }) })),
            await told(chart.histogram({ values: [1], bins: 4294967295 })), await told(chart.line({ series: [{ x: [1], y: [1, 2] }] })),
            await told(chart.line({ series, options: { path: '/tmp/x.svg' } })),
            await told(chart.line({ series, options: { path: '/workspace/all.png', overwrite: false } }))]";
    let expected = json!([
        true,
        "png",
        true,
        "PNG",
        true,
        "parameter",
        "parameter",
        "too-many",
        "too-many",
        "parameter",
        "lengths-differ",
        "denied",
        "exists"
    ]);
    assert_eq!(js(&home, "policy.toml", code), expected);
    let code = "chart scatter --series '[{\"x\":[1,2],\"y\":[3,4]}]' --options '{\"title\":\"Two\"}' | jq -r .svg | grep -c '<circle'
        chart histogram --values '[1,2,2,3]' --options '{\"path\":\"/workspace/h.svg\"}' | jq -r .format; head -c 4 h.svg";
    assert_eq!(sh(&home, code), "2\nsvg\n<svg");
    let code = "return await told(chart.line({ series: [{ y: [1] }], options: { path: '/workspace/a.svg' } }))";
    assert_eq!(js(&home, "bare.toml", code), "denied");
}

#[test]
fn weather_example_is_queried_and_charted() {
    let home = Home::with_tools(&["chart", "sql"]);
    let files = "[tool.sql]\nfiles = [\"/workspace\"]\n[tool.chart]\nfiles = [\"/workspace\"]\n";
    home.file("policy.toml", format!("[[grant]]\nmethod = \"**\"\n{files}"));
    let data = root().join("examples/data");
    let code = "
        const days = (await fs.readFile('data/seattle-weather.csv', 'utf8')).trim().split('\\n').slice(1).map((line) => line.split(','));
        const rows = days.map(([date, , most]) => [{ tag: 'text', val: date }, { tag: 'real', val: Number(most) }]);
        const path = '/workspace/weather.db';
        await sql.insert({ path, table: { name: 'days', columns: ['date', 'most'], rows } });
        const text = 'select substr(date, 6, 2) as month, avg(most) as most from days group by month order by month';
        const months = JSON.parse(await sql.records({ path, sql: text }));
        const july = months[6].most, options = { title: 'Warmest of the day', yLabel: '°C', path: '/workspace/year.png' };
        const picture = await chart.bar({ labels: months.map((one) => one.month), series: [{ values: months.map((one) => one.most) }], options });
        const hand = days.filter(([date]) => date.slice(5, 7) === '07').map((day) => Number(day[2]));
        return [days.length, months.length, Math.abs(july - hand.reduce((sum, one) => sum + one) / hand.length) < 1e-9, picture.format]";
    let mount = format!("{}:/workspace/data:ro", data.display());
    let ran = home.js(code, &["--policy", "policy.toml", "--mount", &mount]);
    assert_eq!(ran["value"], json!([1461, 12, true, "png"]), "{ran}");
}
