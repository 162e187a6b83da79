//! Missing faces of mounted tools: their alias has another meaning in a script language.

use std::fmt;

use super::names::{self, Face, Faces, Spelling};
use super::{HostMethod, MethodDeclaration};

/// Face that the tools of one alias lack, and the spelling that scripts use instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostFace {
    /// Alias of the tools.
    pub alias: String,
    /// Kind of the missing face.
    pub face: Face,
    /// Owner of the name, for example ``a builtin of the shell (`echo`)``.
    pub taken_by: String,
    /// Spelling that scripts use for one of the tools: `tool echo say`, `crypto_say(…)`.
    pub instead: String,
    /// True if the alias has more tools than that one.
    pub several: bool,
}

impl LostFace {
    /// Returns the missing face of a tool with these faces, if it lacks it. An open namespace stands for all tools in
    /// it.
    fn of(alias: &str, spelling: Spelling, faces: &Faces, is_open: bool, face: Face) -> Option<Self> {
        let taken_by = names::taken_by(alias, spelling, face)?;
        let instead = match (face, is_open) {
            (Face::Global, false) => format!("{}(…)", faces.path),
            (Face::Global, true) => format!("{}.NAME(…)", faces.path),
            (Face::Command, false) => faces.command.clone(),
            (Face::Command, true) => format!("{} NAME", faces.command),
        };
        Some(Self { alias: alias.to_owned(), face, taken_by, instead, several: is_open })
    }

    /// Lists the missing faces of a host function.
    pub(crate) fn of_host(tool: &HostMethod) -> Vec<Self> {
        let (method, spelling) = (tool.method(), Spelling::Own);
        let (alias, faces) = (method.split('/').next().unwrap_or(method), names::faces(method, spelling));
        Face::ALL.into_iter().filter_map(|face| Self::of(alias, spelling, &faces, tool.is_namespace(), face)).collect()
    }

    fn is_of(&self, tool: &MethodDeclaration, face: Face) -> bool {
        self.face == face && self.alias == **tool.alias()
    }

    /// Lists the missing faces of these tools, each once for an alias. Tools of one alias must follow one another.
    pub(crate) fn of_all<'t>(tools: impl Iterator<Item = &'t MethodDeclaration>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for tool in tools {
            for face in Face::ALL.into_iter().filter(|face| !tool.has(*face)) {
                match found.iter_mut().rev().take(Face::ALL.len()).find(|lost| lost.is_of(tool, face)) {
                    Some(lost) => lost.several = true,
                    None => found.extend(Self::of(tool.alias(), tool.spelling(), tool.faces(), tool.is_open(), face)),
                }
            }
        }
        found
    }
}

impl fmt::Display for LostFace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scripts = match self.face {
            Face::Global => "JavaScript",
            Face::Command => "the shell",
        };
        let (tool, write) = if self.several { ("its tools", "write for example") } else { ("its tool", "write") };
        let Self { alias, taken_by, instead, .. } = self;
        write!(f, "`{alias}` is {taken_by} and keeps that meaning: for {tool} in {scripts}, {write} `{instead}`")
    }
}
