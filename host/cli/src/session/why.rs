//! `tollhouse session why`.

use clap::Args;
use tollhouse::session::{FileOrigin, FileWriter, OriginCall, Point};

use super::super::locations::Locations;
use super::super::show::{cut, plain};
use super::super::{CliError, Result, format, show};
use crate::Exit;

/// Show where a file comes from: the run that left it as it is, and the calls that its content can come from
///
/// Runs nothing. If a tool wrote the file, that call is named. If the script did, those calls are whose results it had by
/// the time of the file's last change; files that it read may be other sources. Calls are known if the journal of the run
/// is kept: `[journal] keep = "30d"` in the policy.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session why report /workspace/out.csv
  tollhouse session why report@2 /workspace/out.csv --json")]
pub(crate) struct WhyCommand {
    /// The files: SESSION, SESSION@RUN or SESSION@LABEL
    #[arg(value_name = "POINT")]
    point: Point,
    /// The file
    #[arg(value_name = "PATH")]
    path: String,
    /// Print one JSON object: session, path, size, modified, run, script, written_by ({by: creation, change, call, script or
    /// run}, and of a call {seq, method, arguments}), after (calls)
    #[arg(long)]
    json: bool,
}

impl WhyCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        if !self.path.starts_with('/') {
            let hint = format!("paths of a session begin with `/`: `/workspace/{}`?", self.path);
            return Err(CliError::usage(format!("`{}` is not a path of a session", self.path)).hint(hint));
        }
        let origin = locations.sessions()?.history().why(&self.point, &self.path);
        let origin = origin.map_err(|error| super::failed("cannot tell where the file comes from", &error))?;
        if origin.size.is_none() && matches!(origin.written_by, FileWriter::Creation) {
            let what = format!("there was never a file at `{}` of `{}`", self.path, self.point);
            return Err(CliError::usage(what)
                .status(1)
                .hint(format!("`tollhouse session files {}` lists the files", self.point)));
        }
        if self.json {
            show::json_pretty(&origin);
        } else {
            show_origin(&origin);
        }
        Ok(Exit::SUCCESS)
    }
}

fn show_origin(origin: &FileOrigin) {
    let FileOrigin { session, path, size, modified, run, script, written_by, after, .. } = origin;
    let what = match (size, modified) {
        (Some(size), Some(modified)) => format!("{}, {}", format::size(*size), format::time(*modified)),
        _ => "no file there".to_owned(),
    };
    show::line(format_args!("{}  {what}", plain(path)));
    let of_run = format!("{session}@{run} ({})", plain(script.as_deref().unwrap_or_default()));
    match written_by {
        FileWriter::Creation => show::line(format_args!("  since the session `{session}` was created")),
        FileWriter::Change => show::line(format_args!("  left by a change without a run: {of_run}")),
        FileWriter::Call(call) => {
            show::line(format_args!("  left by a tool in {of_run}:"));
            show_call(call);
        }
        FileWriter::Script if after.is_empty() => {
            show::line(format_args!("  left by the script in {of_run}, before it had the result of a call"));
        }
        FileWriter::Script => {
            show::line(format_args!("  left by the script in {of_run}, which had the results of"));
            after.iter().for_each(show_call);
        }
        _ => {
            show::line(format_args!("  left by {of_run}"));
            note!("note: the journal of this run is not kept, so its calls are not known");
        }
    }
}

fn show_call(call: &OriginCall) {
    show::line(format_args!("{:>6}  {}  {}", call.seq, plain(&call.method), cut(&call.arguments.to_string())));
}
