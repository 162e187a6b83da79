//! Derivation tree of a generated script: its text, the productions that it was derived by, and the places where it can
//! be cut.

use std::collections::BTreeSet;

/// Role of a node, which tells the shrinker how the node may be simplified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// Node that can be removed with all its children.
    Item,
    /// Node in the place of a word; another word, or a plain one, can replace it.
    Word,
    /// Node in the place of a command; another command, or the plainest one, can replace it.
    Command,
    /// Node that stays as long as its parent does.
    Fixed,
}

/// Text or a child of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodePart {
    /// Literal text.
    Text(String),
    /// Child node that is derived in turn.
    Node(DerivationNode),
}

/// Node of a derivation: one application of a production of the grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DerivationNode {
    /// Role for the shrinker.
    pub(crate) kind: NodeKind,
    /// Name of the production, such as `sort -k`, by which differences are grouped.
    pub(crate) feature: Option<String>,
    /// Texts and child nodes, in order.
    pub(crate) parts: Vec<NodePart>,
}

impl DerivationNode {
    /// Returns a node without text and children.
    pub(crate) fn new(kind: NodeKind, feature: impl Into<String>) -> Self {
        Self { kind, feature: Some(feature.into()), parts: Vec::new() }
    }

    /// Returns a node of literal text, without a production of its own.
    pub(crate) fn plain(kind: NodeKind, text: impl Into<String>) -> Self {
        Self { kind, feature: None, parts: vec![NodePart::Text(text.into())] }
    }

    /// Returns the text of the script.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        self.render_into(&mut text);
        text
    }

    fn render_into(&self, text: &mut String) {
        for part in &self.parts {
            match part {
                NodePart::Text(part) => text.push_str(part),
                NodePart::Node(node) => node.render_into(text),
            }
        }
    }

    /// Returns the names of all productions in the tree.
    pub(crate) fn features(&self) -> BTreeSet<String> {
        let mut features = BTreeSet::new();
        self.collect(&mut features);
        features
    }

    fn collect(&self, features: &mut BTreeSet<String>) {
        features.extend(self.feature.clone());
        for node in self.children() {
            node.collect(features);
        }
    }

    /// Returns the child nodes in order.
    pub(crate) fn children(&self) -> impl Iterator<Item = &DerivationNode> {
        self.parts.iter().filter_map(|part| match part {
            NodePart::Node(node) => Some(node),
            NodePart::Text(_) => None,
        })
    }

    /// Returns all trees that are one simplification away, the largest simplifications first.
    pub(crate) fn simplifications(&self) -> Vec<DerivationNode> {
        let mut found = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let NodePart::Node(child) = part else { continue };
            let mut replace = |replacement: Option<DerivationNode>| {
                let mut copy = self.clone();
                match replacement {
                    Some(node) => copy.parts[at] = NodePart::Node(node),
                    None => drop(copy.parts.remove(at)),
                }
                found.push(copy);
            };
            match child.kind {
                NodeKind::Item => replace(None),
                NodeKind::Word | NodeKind::Command => {
                    child.same_kind_below(child.kind).into_iter().for_each(|node| replace(Some(node)));
                    let plain = if child.kind == NodeKind::Word { "x" } else { ":" };
                    if child.render() != plain {
                        replace(Some(DerivationNode::plain(child.kind, plain)));
                    }
                }
                NodeKind::Fixed => {}
            }
            child.simplifications().into_iter().for_each(|node| replace(Some(node)));
        }
        found
    }

    /// Returns the topmost descendants of a kind.
    fn same_kind_below(&self, kind: NodeKind) -> Vec<DerivationNode> {
        let mut found = Vec::new();
        for node in self.children() {
            if node.kind == kind {
                found.push(node.clone());
            } else {
                found.extend(node.same_kind_below(kind));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{DerivationNode, NodeKind, NodePart};

    fn text(text: &str) -> NodePart {
        NodePart::Text(text.to_owned())
    }

    fn node(kind: NodeKind, feature: &str, parts: Vec<NodePart>) -> DerivationNode {
        DerivationNode { parts, ..DerivationNode::new(kind, feature) }
    }

    fn echo() -> DerivationNode {
        let option = node(NodeKind::Item, "echo -n", vec![text(" -n")]);
        let default = NodePart::Node(DerivationNode::plain(NodeKind::Word, "y"));
        let word = node(NodeKind::Word, "${x:-y}", vec![text("${x:-"), default, text("}")]);
        node(NodeKind::Command, "echo", vec![text("echo"), NodePart::Node(option), text(" "), NodePart::Node(word)])
    }

    #[test]
    fn node_renders_its_text_in_order() {
        assert_eq!(echo().render(), "echo -n ${x:-y}");
        assert_eq!(echo().features().into_iter().collect::<Vec<_>>(), ["${x:-y}", "echo", "echo -n"]);
    }

    #[test]
    fn node_simplifications_drop_items_and_replace_words() {
        let texts: Vec<String> = echo().simplifications().iter().map(DerivationNode::render).collect();
        assert_eq!(texts, ["echo ${x:-y}", "echo -n y", "echo -n x", "echo -n ${x:-x}"]);
    }
}
