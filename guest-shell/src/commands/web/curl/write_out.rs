//! `-w`: output after each transfer.

use serde_json::{Map, Value as Json, json};

use crate::commands::web::exchange::Headers;

/// Report about a transfer.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub(super) method: String,
    /// Address on the command line.
    pub(super) url: String,
    /// Address of the last response.
    pub(super) effective: String,
    pub(super) scheme: String,
    /// Status; 0 without a response.
    pub(super) status: u16,
    /// Headers of the last response.
    pub(super) headers: Headers,
    pub(super) redirects: u32,
    /// Redirect address of the last response, if it was not followed.
    pub(super) redirect_url: Option<String>,
    pub(super) referer: Option<String>,
    pub(super) size_download: u64,
    pub(super) size_upload: u64,
    pub(super) size_header: u64,
    pub(super) size_request: u64,
    /// Duration of the transfer, in microseconds.
    pub(super) time: u64,
    /// Microseconds until the last redirect.
    pub(super) time_redirect: u64,
    pub(super) file: Option<String>,
    pub(super) number: usize,
    pub(super) exit: i32,
    pub(super) error: Option<String>,
}

/// Expanded format, by stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Expands a format.
pub(super) fn write(format: &str, report: &Report) -> Written {
    let mut written = Written::default();
    let (mut to_stderr, mut rest) = (false, format);
    while let Some(at) = rest.find(['%', '\\']) {
        let (before, special) = rest.split_at(at);
        put(&mut written, to_stderr, before);
        if let Some(after) = special.strip_prefix("%{")
            && let Some(end) = after.find('}')
        {
            rest = &after[end + 1..];
            match &after[..end] {
                "stderr" => to_stderr = true,
                "stdout" => to_stderr = false,
                "onerror" if report.exit == 0 => return written,
                "onerror" => {}
                name => match variable(name, report) {
                    Some(value) => put(&mut written, to_stderr, &value),
                    None => written.stderr += &format!("curl: unknown --write-out variable: '{name}'\n"),
                },
            }
        } else if let Some(after) = special.strip_prefix("%header{")
            && let Some(end) = after.find('}')
        {
            rest = &after[end + 1..];
            let found = report.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(&after[..end]));
            put(&mut written, to_stderr, found.map_or("", |(_, value)| value));
        } else {
            let (text, length) = sign(special);
            put(&mut written, to_stderr, &text);
            rest = &special[length..];
        }
    }
    put(&mut written, to_stderr, rest);
    written
}

fn put(written: &mut Written, to_stderr: bool, text: &str) {
    if to_stderr { &mut written.stderr } else { &mut written.stdout }.push_str(text);
}

/// Parses a sign that is not a variable, and returns its length.
fn sign(text: &str) -> (String, usize) {
    let mut letters = text.chars();
    let (first, second) = (letters.next(), letters.next());
    match (first, second) {
        (Some('%'), Some('%')) => ("%".to_owned(), 2),
        (Some('\\'), Some('n')) => ("\n".to_owned(), 2),
        (Some('\\'), Some('r')) => ("\r".to_owned(), 2),
        (Some('\\'), Some('t')) => ("\t".to_owned(), 2),
        (Some(first), Some(second)) => (format!("{first}{second}"), 1 + second.len_utf8()),
        (Some(first), None) => (first.to_string(), 1),
        (None, _) => (String::new(), 0),
    }
}

fn variable(name: &str, report: &Report) -> Option<String> {
    Some(match name {
        "http_code" | "response_code" => format!("{:03}", report.status),
        "header_json" => header_json(&report.headers),
        "json" => Json::Object(all(report)).to_string(),
        name if name.starts_with("time_") => seconds(time(name, report)?),
        // The host does not expose properties of the connection.
        "certs" => String::new(),
        name => match known(name, report)? {
            Json::Null => String::new(),
            Json::String(text) => text,
            other => other.to_string(),
        },
    })
}

/// Names of all variables of `%{json}`, in its order.
const NAMES: [&str; 39] = [
    "certs",
    "content_type",
    "errormsg",
    "exitcode",
    "filename_effective",
    "ftp_entry_path",
    "http_code",
    "http_connect",
    "http_version",
    "local_ip",
    "local_port",
    "method",
    "num_certs",
    "num_connects",
    "num_headers",
    "num_redirects",
    "proxy_ssl_verify_result",
    "redirect_url",
    "referer",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_download",
    "size_header",
    "size_request",
    "size_upload",
    "speed_download",
    "speed_upload",
    "ssl_verify_result",
    "time_appconnect",
    "time_connect",
    "time_namelookup",
    "time_pretransfer",
    "time_redirect",
    "time_starttransfer",
    "time_total",
    "url",
    "url_effective",
];

fn all(report: &Report) -> Map<String, Json> {
    let mut all: Map<String, Json> = NAMES
        .iter()
        .filter_map(|name| {
            let value = match *name {
                "certs" => json!(""),
                "http_code" | "response_code" => json!(report.status),
                name => match time(name, report) {
                    Some(micros) => serde_json::from_str(&seconds(micros)).ok()?,
                    None => known(name, report)?,
                },
            };
            Some(((*name).to_owned(), value))
        })
        .collect();
    all.insert("urlnum".to_owned(), json!(report.number));
    all.insert("curl_version".to_owned(), json!("libcurl/7.88.1"));
    all
}

fn known(name: &str, report: &Report) -> Option<Json> {
    let header = |name: &str| report.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let answered = report.status > 0;
    let speed = |size: u64| size.saturating_mul(1_000_000).checked_div(report.time).unwrap_or_default();
    Some(match name {
        "content_type" => json!(header("content-type")),
        "errormsg" => json!(report.error),
        "exitcode" => json!(report.exit),
        "filename_effective" => json!(report.file),
        "ftp_entry_path" => Json::Null,
        "http_connect" | "num_certs" | "proxy_ssl_verify_result" | "ssl_verify_result" => json!(0),
        "http_version" => json!(if answered { "1.1" } else { "0" }),
        // The host does not expose these.
        "local_ip" | "remote_ip" => json!(""),
        "local_port" | "remote_port" => json!(0),
        "method" => json!(report.method),
        "num_connects" => json!(u32::from(answered)),
        "num_headers" => json!(report.headers.len()),
        "num_redirects" => json!(report.redirects),
        "redirect_url" => json!(report.redirect_url),
        "referer" => json!(report.referer),
        "scheme" => json!(report.scheme.to_ascii_uppercase()),
        "size_download" => json!(report.size_download),
        "size_header" => json!(report.size_header),
        "size_request" => json!(report.size_request),
        "size_upload" => json!(report.size_upload),
        "speed_download" => json!(speed(report.size_download)),
        "speed_upload" => json!(speed(report.size_upload)),
        "url" => json!(report.url),
        "url_effective" => json!(report.effective),
        "urlnum" => json!(report.number),
        _ => return None,
    })
}

/// Returns a time in microseconds. The phases of a transfer are unknown, and 0.
fn time(name: &str, report: &Report) -> Option<u64> {
    Some(match name {
        "time_total" | "time_starttransfer" => report.time,
        "time_redirect" => report.time_redirect,
        "time_appconnect" | "time_connect" | "time_namelookup" | "time_pretransfer" => 0,
        _ => return None,
    })
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Returns the headers as an object with lists as values, and one name per line.
fn header_json(headers: &Headers) -> String {
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, value) in headers {
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => names.push((name, vec![value])),
        }
    }
    let lines: Vec<String> = names.iter().map(|(name, values)| format!("{}:{}", json!(name), json!(values))).collect();
    format!("{{{}\n}}", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            status: 200,
            headers: vec![("content-type".into(), "text/x".into()), ("a".into(), "1".into()), ("a".into(), "2".into())],
            time: 1_234_567,
            ..Report::default()
        }
    }

    #[test]
    fn variables_are_filled_in() {
        let text = write("%{http_code} %{content_type}\\t%{time_total} %header{A} 5%% %x\\n", &report()).stdout;
        assert_eq!(text, "200 text/x\t1.234567 1 5% %x\n");
        assert_eq!(write("%{http_code}", &Report::default()).stdout, "000");
        assert_eq!(write("a%{nope}b", &report()).stderr, "curl: unknown --write-out variable: 'nope'\n");
        assert_eq!(
            write("%{header_json}", &report()).stdout,
            "{\"content-type\":[\"text/x\"],\n\"a\":[\"1\",\"2\"]\n}"
        );
    }

    #[test]
    fn streams_and_errors_are_told_apart() {
        let written = write("a%{stderr}b%{stdout}c", &report());
        assert_eq!((written.stdout.as_str(), written.stderr.as_str()), ("ac", "b"));
        assert_eq!(write("a%{onerror}b", &report()).stdout, "a");
        let failed = Report { exit: 7, ..Report::default() };
        assert_eq!(write("a%{onerror}b", &failed).stdout, "ab");
    }

    #[test]
    fn json_holds_every_variable() {
        let object: Json = serde_json::from_str(&write("%{json}", &report()).stdout).expect("JSON");
        assert_eq!(object["http_code"], 200);
        assert_eq!(object.as_object().map(Map::len), Some(NAMES.len() + 2));
    }
}
