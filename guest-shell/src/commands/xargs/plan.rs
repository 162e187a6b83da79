//! Command lines that `xargs` builds from its items, as GNU's `buildcmd.c` does.

use super::options::XargsOptions;
use super::scanner::read_items;

/// Command lines that are run, and the error that ended the input after them.
pub(super) struct CommandPlan {
    pub(super) commands: Vec<Vec<String>>,
    pub(super) error: Option<String>,
}

impl CommandPlan {
    /// Builds the command lines for an input.
    pub(super) fn new(options: &XargsOptions, input: &str) -> Self {
        let mut builder = CommandBuilder::new(options);
        // With `-I` a command line is built once there is an item, so that one that is too long fails only then.
        if options.replaced.is_none() && builder.initial_size > options.max_size {
            return Self { commands: Vec::new(), error: Some("argument list too long".to_string()) };
        }
        let error = read_items(&mut builder, input).err();
        builder.finish(error)
    }
}

/// Builder of command lines.
pub(super) struct CommandBuilder<'a> {
    pub(super) options: &'a XargsOptions,
    /// Size of the command and its first arguments.
    initial_size: usize,
    /// Items of the next command line.
    pending: Vec<String>,
    /// Size of the next command line.
    size: usize,
    commands: Vec<Vec<String>>,
    /// Lines of input that the next command line has items of, for `-L`.
    pub(super) lines: usize,
}

/// Returns the size of words in a command line, each of which has a byte behind it.
fn size_of<'a>(words: impl IntoIterator<Item = &'a String>) -> usize {
    words.into_iter().map(|word| word.len() + 1).sum()
}

impl<'a> CommandBuilder<'a> {
    fn new(options: &'a XargsOptions) -> Self {
        let initial_size = size_of(&options.command);
        Self { options, initial_size, pending: Vec::new(), size: initial_size, commands: Vec::new(), lines: 0 }
    }

    /// Ends the next command line.
    fn end_command(&mut self) {
        let mut command = self.options.command.clone();
        command.append(&mut self.pending);
        self.commands.push(command);
        self.size = self.initial_size;
    }

    /// Adds an item within a line of input. The error ends the input.
    pub(super) fn push(&mut self, item: String) -> std::result::Result<(), String> {
        let too_long = || Err("argument line too long".to_string());
        let size = item.len() + 1;
        if self.size + size > self.options.max_size {
            if self.pending.is_empty() {
                return too_long();
            }
            self.end_command();
            if self.size + size > self.options.max_size {
                return too_long();
            }
        }
        self.pending.push(item);
        self.size += size;
        if self.options.max_items > 0 && self.pending.len() >= self.options.max_items {
            self.end_command();
        }
        Ok(())
    }

    /// Adds a command line in which an item stands for the words of `-I`. The error ends the input.
    fn replace(&mut self, replaced: &str, item: &str) -> std::result::Result<(), String> {
        let command: Vec<String> = self.options.command.iter().map(|word| word.replace(replaced, item)).collect();
        if size_of(&command) > self.options.max_size {
            return Err("command too long".to_string());
        }
        self.commands.push(command);
        Ok(())
    }

    /// Adds the last item of a line of input. The error ends the input.
    pub(super) fn take(&mut self, item: String) -> std::result::Result<(), String> {
        match self.options.replaced.as_deref() {
            Some(replaced) => self.replace(replaced, &item)?,
            None => self.push(item)?,
        }
        if self.options.max_lines > 0 && self.lines >= self.options.max_lines {
            self.end_command();
            self.lines = 0;
        }
        Ok(())
    }

    /// Returns the plan. The items before an error are still used, and without any the command runs once, unless `-r`
    /// forbids it.
    fn finish(mut self, error: Option<String>) -> CommandPlan {
        let runs_empty = self.commands.is_empty() && !self.options.skips_empty_input && error.is_none();
        if self.options.replaced.is_none() && (!self.pending.is_empty() || runs_empty) {
            self.end_command();
        }
        CommandPlan { commands: self.commands, error }
    }
}
