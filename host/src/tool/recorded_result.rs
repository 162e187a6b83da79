//! Results that a recording has, in place of those of tools.

use super::{Tool, ToolSource, value};
use crate::error::Payload;

impl Tool {
    /// Returns the result that a recording has as the tool would have returned it: of its declared type, and with the marks of
    /// what JSON cannot express. What a host function returns is checked as far as that of the function itself is. Omitted
    /// options may take at most `memory` bytes.
    ///
    /// # Errors
    /// The reason why the tool cannot have returned it, in words.
    pub(crate) fn recorded_result(&self, result: Payload, memory: u64) -> Result<Payload, String> {
        match &self.source {
            ToolSource::Host(tool) => {
                tool.check_result(&result.value).map(|()| result).map_err(|error| error.to_string())
            }
            ToolSource::Package(_) => {
                let ty = self.function().returns();
                // The text of a handle was the tool's, and stands for nothing here.
                if ty.is_some_and(super::types::Type::has_resource) {
                    return Ok(result);
                }
                value::as_result(ty, result.value, memory)
            }
        }
    }
}
