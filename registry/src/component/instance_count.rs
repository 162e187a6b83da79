//! Limit on the instances that a component makes of its modules and components. Compilers lay out each of them: forty
//! components, each of which makes two instances of the one before, are 2.6 KB and a trillion instances. Must be called
//! before anything is compiled.

use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ComponentTypeRef, Instance, Parser, Payload,
};

use super::ComponentError;

/// Largest number of instances. A composition of several tools in Python has some hundred.
pub(crate) const MOST: u64 = 2_000;

/// Component that is being read, or a module in it.
#[derive(Default)]
struct ComponentScope {
    is_component: bool,
    /// Number of instances that one instance of it makes of others.
    count: u64,
    /// Number of instances for each component that has an index in this one; `None` for those that are defined
    /// elsewhere.
    components: Vec<Option<u64>>,
}

/// Checks that `bytes` makes no more than 2,000 instances, and none of components from outside.
///
/// # Errors
/// If it does, or cannot be parsed.
pub fn check_instances(bytes: &[u8]) -> Result<(), ComponentError> {
    let mut open: Vec<ComponentScope> = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        read(&mut open, payload.map_err(super::invalid)?)?;
    }
    Ok(())
}

fn read(open: &mut Vec<ComponentScope>, payload: Payload<'_>) -> Result<(), ComponentError> {
    match payload {
        Payload::Version { encoding, .. } => {
            open.push(ComponentScope {
                is_component: encoding == wasmparser::Encoding::Component,
                ..ComponentScope::default()
            });
        }
        Payload::End(_) => {
            let ended = open.pop().filter(|ended| ended.is_component);
            if let (Some(ended), Some(scope)) = (ended, open.last_mut()) {
                scope.components.push(Some(ended.count));
            }
        }
        Payload::InstanceSection(section) => {
            for instance in section {
                let made = matches!(instance.map_err(super::invalid)?, Instance::Instantiate { .. });
                add(open, u64::from(made))?;
            }
        }
        Payload::ComponentInstanceSection(section) => {
            for instance in section {
                if let ComponentInstance::Instantiate { component_index, .. } = instance.map_err(super::invalid)? {
                    let inner = known(open, 0, component_index).ok_or(ComponentError::GivenComponent)?;
                    add(open, inner.saturating_add(1))?;
                }
            }
        }
        payload => name(open, payload).map_err(super::invalid)?,
    }
    Ok(())
}

/// Assigns indices to components that are imported, exported, or named by an alias.
fn name(open: &mut [ComponentScope], payload: Payload<'_>) -> Result<(), BinaryReaderError> {
    let mut named = Vec::new();
    match payload {
        Payload::ComponentImportSection(section) => {
            for import in section {
                if let ComponentTypeRef::Component(_) = import?.ty {
                    named.push(None);
                }
            }
        }
        Payload::ComponentExportSection(section) => {
            for export in section {
                let export = export?;
                if export.kind == ComponentExternalKind::Component {
                    named.push(known(open, 0, export.index));
                }
            }
        }
        Payload::ComponentAliasSection(section) => {
            for alias in section {
                match alias? {
                    ComponentAlias::InstanceExport { kind: ComponentExternalKind::Component, .. } => named.push(None),
                    ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
                        named.push(known(open, count, index));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    if let Some(scope) = open.last_mut() {
        scope.components.append(&mut named);
    }
    Ok(())
}

/// Returns the number of instances that a component makes of others, by its index in the component `outside` levels
/// further out.
fn known(open: &[ComponentScope], outside: u32, index: u32) -> Option<u64> {
    let scope = open.iter().rev().nth(usize::try_from(outside).ok()?)?;
    *scope.components.get(usize::try_from(index).ok()?)?
}

fn add(open: &mut [ComponentScope], more: u64) -> Result<(), ComponentError> {
    let Some(scope) = open.last_mut() else { return Ok(()) };
    scope.count = scope.count.saturating_add(more);
    if scope.count > MOST { Err(ComponentError::TooManyInstances) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), ComponentError> {
        let bytes = wat::parse_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        check_instances(&bytes)
    }

    /// Makes `levels` components, each of which makes two instances of the one before.
    fn doubling(levels: usize) -> String {
        let mut text = "(component (component $c0 (core module $m) (core instance (instantiate $m)))".to_owned();
        for level in 1..levels {
            text += &format!(
                "(component $c{level} (alias outer 1 $c{} (component $p)) (instance (instantiate $p)) (instance (instantiate $p)))",
                level - 1
            );
        }
        text + &format!("(instance (instantiate $c{})))", levels - 1)
    }

    #[test]
    fn instances_of_nested_components_are_multiplied() {
        assert!(checked(&doubling(1)).is_ok());
        assert!(checked(&doubling(9)).is_ok());
        assert!(matches!(checked(&doubling(40)), Err(ComponentError::TooManyInstances)));
        assert!(matches!(checked(&doubling(100)), Err(ComponentError::TooManyInstances)));
    }

    #[test]
    fn names_of_components_are_followed() {
        // By an export, which gets an index of its own.
        let exported = doubling(40).replace(
            "(instance (instantiate $c39)))",
            "(export $e \"x\" (component $c39)) (instance (instantiate $e)))",
        );
        assert!(matches!(checked(&exported), Err(ComponentError::TooManyInstances)));
        let given = "(component (component $c (import \"x\" (component $x)) (instance (instantiate $x))))";
        assert!(matches!(checked(given), Err(ComponentError::GivenComponent)));
        let of_instance = "(component (component $c (component $x) (export \"x\" (component $x)))
            (instance $i (instantiate $c)) (alias export $i \"x\" (component $x)) (instance (instantiate $x)))";
        assert!(matches!(checked(of_instance), Err(ComponentError::GivenComponent)));
    }
}
