//! Types of functions, derived from bytes. All bytes are valid, and changing one byte gives a similar type.
//!
//! The first line of the data is a sequence of letters, such as `2l…` for two parameters, of which the first is called
//! `NAMES[l]`. Their types follow. A letter of [`SHAPES`] is a type, followed by its parts: `L7` is a list of `u32`,
//! `R2a7s` a record of two fields (called `NAMES[a]` and the next). Any other byte stands for the letter at its value
//! modulo the number of letters.

use tollhouse::tool::types::{Case, Export, Field, Function, FunctionKind, Members, Resource, Shape, Type};

/// Letters of types. Those without parts come first.
const SHAPES: &[u8; 26] = b"bcsB12345678fFEGOWLXTRV?!M";

/// Limits of the depth of types and of the number of parts in a function's types, large enough for every kind of type
/// within every other.
const DEPTH: usize = 12;
const PARTS: usize = 100;

/// Names that stay distinct in lowerCamelCase, as reflection requires.
const NAMES: [&str; 24] = [
    "a",
    "std-dev",
    "HTTP-url",
    "b-1",
    "x2y",
    "json",
    "no-wait",
    "wait",
    "tag",
    "val",
    "self",
    "amount",
    "long-name-of-many-words",
    "r-G-b",
    "null",
    "ok",
    "err",
    "some",
    "none",
    "dry-run",
    "URL",
    "constructor",
    "to-string",
    "proto",
];

/// Returns the function that the first line of the data describes, and the rest of the data.
pub(crate) fn function(data: &[u8]) -> (Function, &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let mut program = Program { letters: data.get(..end).unwrap_or_default().iter(), parts: 0 };
    let params = program.members(Field::new);
    let result = None;
    let export = Export { instance: None, function: "f".to_owned() };
    let function = Function {
        path: vec!["f".to_owned()],
        docs: None,
        params,
        result,
        kind: FunctionKind::Free,
        export,
        schemas: None,
    };
    (function, data.get(end.saturating_add(1)..).unwrap_or_default())
}

struct Program<'d> {
    letters: std::slice::Iter<'d, u8>,
    parts: usize,
}

impl Program<'_> {
    fn letter(&mut self) -> u8 {
        self.letters.next().copied().unwrap_or(b'b')
    }

    /// Reads a number from a digit.
    fn count(&mut self) -> usize {
        usize::from(self.letter().wrapping_sub(b'0') % 10)
    }

    /// Returns as many names as a digit says, starting with the name of a letter.
    fn names(&mut self) -> impl Iterator<Item = &'static str> + use<> {
        let count = self.count();
        let first = usize::from(self.letter().wrapping_sub(b'a'));
        (first..first + count).filter_map(|at| NAMES.get(at % NAMES.len()).copied())
    }

    fn members(&mut self, make: impl Fn(&'static str, Type) -> Field) -> Members<Field> {
        self.names().map(|name| make(name, self.ty(1))).collect()
    }

    fn ty(&mut self, depth: usize) -> Type {
        self.parts += 1;
        let letter = self.letter();
        let leaves = SHAPES.iter().take_while(|letter| **letter != b'L').count();
        let known = if depth > DEPTH || self.parts > PARTS { leaves } else { SHAPES.len() };
        let at = SHAPES.iter().position(|shape| *shape == letter).unwrap_or(usize::from(letter)) % known;
        self.shape(SHAPES.get(at).copied().unwrap_or(b'b'), depth + 1).into()
    }

    fn boxed(&mut self, depth: usize) -> Box<Type> {
        Box::new(self.ty(depth))
    }

    fn shape(&mut self, letter: u8, depth: usize) -> Shape {
        match letter {
            b'c' => Shape::Char,
            b's' => Shape::String,
            b'B' => Shape::Bytes,
            b'1' => Shape::S8,
            b'2' => Shape::S16,
            b'3' => Shape::S32,
            b'4' => Shape::S64,
            b'5' => Shape::U8,
            b'6' => Shape::U16,
            b'7' => Shape::U32,
            b'8' => Shape::U64,
            b'f' => Shape::F32,
            b'F' => Shape::F64,
            b'E' => Shape::Enum(self.names().map(|name| Case::new(name, None)).collect()),
            b'G' => Shape::Flags(self.names().map(|name| Case::new(name, None)).collect()),
            b'O' => Shape::Own(resource()),
            b'W' => Shape::Borrow(resource()),
            b'L' => match self.ty(depth) {
                Type { shape: Shape::U8, .. } => Shape::Bytes,
                inner => Shape::List(Box::new(inner)),
            },
            b'X' => {
                let count = u32::try_from(self.count()).unwrap_or(0);
                Shape::FixedList(self.boxed(depth), count)
            }
            b'T' => Shape::Tuple((0..self.count()).map(|_| self.ty(depth)).collect()),
            b'R' => Shape::Record(self.names().map(|name| Field::new(name, self.ty(depth))).collect()),
            b'V' => Shape::Variant(self.names().map(|name| Case::new(name, self.payload(depth))).collect()),
            b'?' => Shape::Option(self.boxed(depth)),
            b'!' => {
                let ok = self.payload(depth).map(Box::new);
                Shape::Result { ok, err: self.payload(depth).map(Box::new) }
            }
            b'M' => {
                let key = self.key();
                Shape::Map(Box::new(key.into()), self.boxed(depth))
            }
            _ => Shape::Bool,
        }
    }

    /// Returns the payload of a case, or `None` for an underscore.
    fn payload(&mut self, depth: usize) -> Option<Type> {
        match self.letters.as_slice().first() {
            Some(b'_') => {
                self.letter();
                None
            }
            _ => Some(self.ty(depth)),
        }
    }

    /// Reads a type that the keys of maps may have.
    fn key(&mut self) -> Shape {
        let letter = self.letter();
        let fits = letter.is_ascii_digit() || [b'b', b'c', b's'].contains(&letter);
        if fits { self.shape(letter, DEPTH) } else { Shape::String }
    }
}

fn resource() -> Resource {
    Resource { instance: "a:b/c".to_owned(), name: "counter".to_owned() }
}
