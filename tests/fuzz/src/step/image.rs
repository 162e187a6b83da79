//! Memory image of a guest, built by hand: its steps and calls of imports in the layout of the canonical ABI.

use super::plan::{Import, RUN_TO_END, Said, Slot, Started, What};

/// Address at which the guest places the image.
const BASE: u32 = 0x1000;

/// Size of a slot, and of the header before the first slot, in bytes: see `puppet.wat`.
const SLOT: usize = 144;
const HEAD: usize = 8;

/// Largest image, in bytes.
const MOST: usize = 0xe000;

/// Memory from address [`BASE`] on.
struct Image(Vec<u8>);

/// Returns the script that makes the guest take these steps: the image, in hexadecimal.
pub(super) fn script(slots: &[Slot]) -> String {
    let mut image = Image(vec![0; HEAD + slots.len() * SLOT]);
    image.number(0, u32::try_from(slots.len()).expect("a plan has a few"));
    for (at, slot) in slots.iter().enumerate() {
        image.slot(HEAD + at * SLOT, slot);
    }
    image.0.truncate(MOST);
    image.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Image {
    fn set(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn number(&mut self, at: usize, number: u32) {
        self.set(at, &number.to_le_bytes());
    }

    fn long(&mut self, at: usize, number: u64) {
        self.set(at, &number.to_le_bytes());
    }

    /// Appends zeroed room, and returns where it begins in the image.
    fn room(&mut self, bytes: usize) -> usize {
        let at = self.0.len().next_multiple_of(8);
        self.0.resize(at + bytes, 0);
        at
    }

    /// Writes a pointer to a position in the image, and a length.
    fn range(&mut self, at: usize, to: usize, length: usize) {
        let small = |number: usize| u32::try_from(number).expect("the image is small");
        self.number(at, BASE + small(to));
        self.number(at + 4, small(length));
    }

    /// Appends a string or a list of bytes, and writes a pointer to it.
    fn bytes(&mut self, at: usize, bytes: &[u8]) {
        let to = self.room(bytes.len());
        self.set(to, bytes);
        self.range(at, to, bytes.len());
    }

    fn slot(&mut self, at: usize, slot: &Slot) {
        match &slot.said {
            Said::Blocked { started, cancelled } => {
                let list = self.room(started.len() * 80);
                self.range(at + 8, list, started.len());
                for (index, started) in started.iter().enumerate() {
                    self.pending(list + index * 80, started);
                }
                let list = self.room(cancelled.len() * 8);
                self.range(at + 16, list, cancelled.len());
                for (index, id) in cancelled.iter().enumerate() {
                    self.long(list + index * 8, *id);
                }
            }
            Said::Finished { value, exit_code, error, fuel, state } => {
                self.0[at] = 1;
                let outcome = at + 8;
                self.option(outcome, value.as_deref().map(str::as_bytes));
                self.0[outcome + 12] = *exit_code;
                if let Some((kind, message)) = error {
                    self.0[outcome + 16] = 1;
                    self.0[outcome + 20] = *kind;
                    self.bytes(outcome + 24, b"Error");
                    self.bytes(outcome + 32, message.as_bytes());
                    self.0[outcome + 64] = 1;
                    self.bytes(outcome + 68, b"script.js");
                    self.number(outcome + 76, 1);
                    self.number(outcome + 80, u32::from(*kind));
                }
                self.long(outcome + 104, *fuel);
                self.option(outcome + 112, state.as_deref());
            }
            Said::Raw(bytes) => self.set(at, &bytes[..bytes.len().min(SLOT - 8)]),
        }
        let calls = self.room(slot.imports.len() * 24);
        self.range(at + 136, calls, slot.imports.len());
        for (index, import) in slot.imports.iter().enumerate() {
            self.import(calls + index * 24, import);
        }
    }

    fn option(&mut self, at: usize, bytes: Option<&[u8]>) {
        if let Some(bytes) = bytes {
            self.0[at] = 1;
            self.bytes(at + 4, bytes);
        }
    }

    fn pending(&mut self, at: usize, started: &Started) {
        self.long(at, started.id);
        let operation = at + 16;
        let (case, Started { what, .. }) = (at + 8, started);
        match what {
            What::Call { method, arguments } => {
                self.bytes(operation, method.as_bytes());
                self.bytes(operation + 8, arguments.as_bytes());
            }
            What::Read { stream, limit } => {
                self.0[case] = 1;
                self.number(operation, *stream);
                self.number(operation + 4, *limit);
            }
            What::Sleep(nanoseconds) => {
                self.0[case] = 2;
                self.long(operation, *nanoseconds);
            }
            What::Run { script, language, streams } => {
                self.0[case] = 3;
                match script {
                    Some(slots) => {
                        self.0[operation] = 1;
                        self.0[operation + 4] = *language;
                        self.bytes(operation + 8, self::script(slots).as_bytes());
                        self.bytes(operation + 16, b"inner");
                    }
                    None => self.bytes(operation + 4, b"fuzz"),
                }
                self.bytes(operation + 40, b"/workspace");
                for (index, stream) in streams.iter().enumerate() {
                    self.number(operation + 48 + index * 4, *stream);
                }
            }
            What::Write { stream, bytes, end } => {
                self.0[case] = 4;
                self.number(operation, *stream);
                self.bytes(operation + 4, bytes);
                self.0[operation + 12] = u8::from(*end);
            }
        }
    }

    /// Writes a `request` of the interface `scripts`, with a script to run to its end.
    fn request(&mut self, at: usize, import: &Import) {
        let [language, input, stdout, stderr, timeout] = import.numbers;
        let small = |number: u32, cases: u32| u8::try_from(number % cases).expect("there are few cases");
        self.0[at] = small(language, 2);
        self.bytes(at + 4, self::script(&import.script).as_bytes());
        self.bytes(at + 12, b"inner");
        self.bytes(at + 36, import.path.as_bytes());
        if small(input, 2) == 1 {
            self.0[at + 44] = 1;
            self.bytes(at + 48, import.text.as_bytes());
        }
        for (at, number) in [(at + 56, stdout), (at + 72, stderr)] {
            // One number above the last case, which is invalid.
            self.0[at] = small(number, 5);
            self.long(at + 8, u64::from(number % 9));
        }
        self.0[at + 88] = small(timeout, 2);
        self.long(at + 96, u64::from(timeout));
        self.long(at + 104, u64::MAX / u64::from(timeout.max(1)));
    }

    fn import(&mut self, at: usize, import: &Import) {
        self.number(at, import.which);
        if import.raw {
            for (index, number) in import.numbers.iter().enumerate() {
                self.number(at + 4 + index * 4, *number);
            }
            return;
        }
        match import.which {
            0 => {
                self.number(at + 4, import.numbers[0] % 2);
                self.bytes(at + 8, import.text.as_bytes());
            }
            1 => self.long(at + 8, u64::from(import.numbers[0])),
            2 => self.number(at + 4, import.numbers[0]),
            6 => {
                self.bytes(at + 4, import.path.as_bytes());
                self.bytes(at + 12, import.text.as_bytes());
                self.number(at + 20, import.numbers[0] % 3);
            }
            RUN_TO_END => {
                let request = self.room(112);
                self.request(request, import);
                self.number(at + 4, BASE + u32::try_from(request).expect("the image is small"));
            }
            10 | 11 => {
                self.bytes(at + 4, import.path.as_bytes());
                self.bytes(at + 12, import.text.as_bytes());
            }
            _ => {
                self.bytes(at + 4, import.path.as_bytes());
                self.number(at + 12, import.numbers[0] % 2);
                self.number(at + 16, import.numbers[1] % 4096);
            }
        }
    }
}
