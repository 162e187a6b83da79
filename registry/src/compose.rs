//! Composition of components: imports of one are satisfied by exports of others within one component. Calls between
//! them do not go through a gate.

use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, PackageId, PlugError, Processor};

use crate::component::{Component, ComponentError, check_whole};

/// Reason why components cannot be composed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// An input is not a valid component.
    #[error("`{name}` cannot be composed")]
    Component {
        /// Name of the input.
        name: String,
        /// Reason why it is not valid.
        #[source]
        source: ComponentError,
    },
    /// A plug exports nothing that the socket imports.
    #[error("`{plug}` exports nothing that `{socket}` imports in the same form")]
    Useless {
        /// Name of the useless plug.
        plug: String,
        /// Name of the component that imports.
        socket: String,
    },
    /// The composition is not valid, for example since both components use a resource that only one may define.
    #[error("`{plug}` cannot be composed into `{socket}`: {problem}")]
    Failed {
        /// Name of the plug.
        plug: String,
        /// Name of the component that imports.
        socket: String,
        /// Cause of the failure.
        problem: String,
    },
}

/// Satisfies the imports of one component (the socket) by the exports of others (the plugs), one after the other, and
/// returns the component that holds them all. Imports that no plug satisfies remain, and so do the plugs' own imports.
/// Each component is given with a name for messages.
///
/// # Errors
/// If an input is not a component, or satisfies nothing.
pub fn compose(socket: (&str, Vec<u8>), plugs: Vec<(String, Vec<u8>)>) -> Result<Vec<u8>, ComposeError> {
    let (name, mut composed) = socket;
    check(name, &composed)?;
    for (plug, bytes) in plugs {
        check(&plug, &bytes)?;
        composed = plugged(name, composed, &plug, bytes)?;
    }
    Ok(composed)
}

fn check(name: &str, bytes: &[u8]) -> Result<(), ComposeError> {
    let component = check_whole(bytes).and_then(|()| Component::read(bytes));
    component.map(drop).map_err(|source| ComposeError::Component { name: name.to_owned(), source })
}

fn plugged(socket: &str, bytes: Vec<u8>, plug: &str, with: Vec<u8>) -> Result<Vec<u8>, ComposeError> {
    let failed = |problem: String| ComposeError::Failed { plug: plug.to_owned(), socket: socket.to_owned(), problem };
    let mut graph = CompositionGraph::new();
    let mut register = |name: &str, bytes: Vec<u8>| -> Result<PackageId, String> {
        let package =
            Package::from_bytes(name, None, bytes, graph.types_mut()).map_err(|error| format!("{error:#}"))?;
        graph.register_package(package).map_err(|error| error.to_string())
    };
    // Names of the graph's own, since both may be releases of one package.
    let outer = register("socket", bytes).map_err(failed)?;
    let inner = register("plug", with).map_err(failed)?;
    wac_graph::plug(&mut graph, vec![inner], outer).map_err(|error| match error {
        PlugError::NoPlugHappened => ComposeError::Useless { plug: plug.to_owned(), socket: socket.to_owned() },
        PlugError::GraphError { source } => failed(format!("{source:#}")),
    })?;
    let processor = Processor { name: "tollhouse", version: env!("CARGO_PKG_VERSION") };
    let options = EncodeOptions { processor: Some(processor), ..EncodeOptions::default() };
    graph.encode(options).map_err(|error| failed(in_full(&error)))
}

/// Formats an error with its causes.
fn in_full(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CHARGES, component, core_module};
    use crate::wit;

    const SHOP: &str = "\
package acme:shop@0.1.0;

interface shop { buy: func(amount: u32) -> result<string, string>; }

world tool { import acme:payments/charges@1.1.0; import acme:stock/stock@0.1.0; export shop; }

package acme:payments@1.1.0 { interface charges { create: func(amount: u32, currency: string) -> result<string, string>; } }
package acme:stock@0.1.0 { interface stock { left: func() -> u32; } }
";

    fn imports(bytes: &[u8]) -> Vec<String> {
        crate::unused_permissions::imports(&Component::read(bytes).expect("a component"))
    }

    #[test]
    fn composition_imports_no_longer_what_is_served_within() {
        let shop = component(SHOP);
        let composed = compose(("acme:shop", shop.clone()), vec![("acme:payments".into(), component(CHARGES))]);
        let composed = composed.expect("1.2 serves 1.1");
        assert_eq!(imports(&shop), ["acme:payments/charges@1.1.0", "acme:stock/stock@0.1.0"]);
        assert_eq!(imports(&composed), ["acme:stock/stock@0.1.0"]);
        let exports = |bytes: &[u8]| wit::exports(&Component::read(bytes).expect("a component")).expect("WIT");
        assert_eq!(exports(&composed), exports(&shop));
    }

    #[test]
    fn composition_with_useless_or_invalid_part_is_refused_by_name() {
        let other =
            "package acme:payments@2.0.0; interface charges { create: func() -> u32; } world tool { export charges; }";
        let composed = compose(("acme:shop", component(SHOP)), vec![("acme:payments@2".into(), component(other))]);
        let error = composed.expect_err("another major version").to_string();
        assert_eq!(error, "`acme:payments@2` exports nothing that `acme:shop` imports in the same form");
        let module = vec![("core".to_owned(), core_module(CHARGES))];
        let error = compose(("acme:shop", component(SHOP)), module).expect_err("no component");
        assert!(matches!(error, ComposeError::Component { name, .. } if name == "core"));
    }
}
