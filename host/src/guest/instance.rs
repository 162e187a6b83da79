//! Instances of a guest: created, started, resumed, dropped.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tollhouse_engine::{JAVASCRIPT_STACK, SHELL_STACK};
use wasmtime::Trap;
use wasmtime::component::Component;

use super::bindings::{ScriptGuestPre, types as wit};
use super::files::NoMemoryForRead;
use super::guest_state::{Catalog, GuestState, Output, OutputError, linker};
use super::inline_script::ScriptRunner;
use super::instance_pool::{GuestInstance, InstancePool, PooledInstance};
use super::memory_image::ChangedMemory;
use super::operation::{Completion, Step};
use super::run_usage::RunUsage;
use super::stack_overflow::is_overflow;
use super::step_input::{IncompleteInput, StepInput};
use super::{Language, Mention};
use crate::code::{self, Code, CodeError, Interrupt, NoRoom, Stopped, with_stack};
use crate::vfs::{ApplyError, Edit, Tree};

/// Script guests of a process. Each is loaded when it is first used.
pub struct Guests {
    code: Code,
    javascript: OnceLock<ScriptGuestPre<GuestState>>,
    shell: OnceLock<ScriptGuestPre<GuestState>>,
    pools: [InstancePool; 2],
    /// Memories of fresh instances, once they were needed.
    images: [OnceLock<Box<[u8]>>; 2],
    loading: Mutex<()>,
}

/// What a guest that waits had done, apart from its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GuestProgress {
    /// Fuel that it used.
    pub(crate) fuel: u64,
    /// Bytes that it wrote to both streams.
    pub(crate) output: u64,
    /// Words of 32 bits that it drew of its random numbers.
    pub(crate) random: u128,
    /// Scripts that it ran within its steps.
    pub(crate) scripts: u64,
}

/// Instance with the memory of a guest that had waited, which belongs to no run yet.
pub(crate) struct RestoredInstance(PooledInstance);

/// Script and the environment in which it starts.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Source text.
    pub source: String,
    /// Name that stack traces show. Its extension tells TypeScript from JavaScript.
    pub name: String,
    /// True if the script was read from a file or a pipe, as with `bash FILE`, and not given as text, as with `bash
    /// -c`.
    pub from_file: bool,
    /// Positional arguments.
    pub arguments: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Set if a person typed the script, as one of several inputs.
    pub typed: Option<Typed>,
}

/// Mode of an input that a person typed. For JavaScript, the value of its last expression is written to standard
/// output, as `util.inspect` shows it, and its top-level declarations are left in `state`; for bash, the directory in
/// which it ends is its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// True to write in colours.
    pub colors: bool,
}

/// Everything that a guest is given besides its script.
pub(crate) struct GuestWorld {
    pub(crate) files: Tree,
    pub(crate) output: Output,
    pub(crate) catalog: Arc<dyn Catalog>,
    /// Fuel and memory of the run.
    pub(crate) usage: RunUsage,
    /// Seed of the run's random numbers.
    pub(crate) seed: [u8; 32],
    pub(crate) interrupt: Interrupt,
    /// Runner of scripts within a step of this guest.
    pub(crate) runner: Option<Box<dyn ScriptRunner>>,
    /// Standard input, as it is read within a step.
    pub(crate) input: Option<Box<dyn StepInput>>,
}

/// Reason why a guest is gone. Its files and output are as they were when it stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuestError {
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The run's time was up.
    #[error("out of time")]
    Deadline,
    /// The guest's output was refused.
    #[error(transparent)]
    Output(OutputError),
    /// The guest recursed too deeply for its stack.
    #[error("stack exhausted")]
    Stack,
    /// The guest needed more memory than its limit.
    #[error("memory limit reached")]
    Memory,
    /// The script read input within its first step that is not complete: it is to be started anew when it is.
    #[error("the input is not complete")]
    IncompleteInput,
    /// The guest trapped for another reason. Either the guest is faulty, or the script found a fault in it.
    #[error("the guest trapped: {0}")]
    Trap(String),
}

impl Guests {
    /// Creates guests that run on these engines.
    #[must_use]
    pub fn new(code: Code) -> Self {
        let (javascript, shell, images, loading) = Default::default();
        let pools = ["js", "shell"].map(|name| InstancePool::with_pages(code::embedded(name).pages()));
        Self { code, javascript, shell, pools, images, loading }
    }

    /// Creates guests that are all this component, in place of those embedded in this binary: for tests with a guest
    /// that lies to its host.
    pub(crate) fn lying(code: Code, component: &[u8]) -> Result<Self, CodeError> {
        let compiled = |error: wasmtime::Error| CodeError::Compile(error.into());
        let engine = code.guest_engine("js")?;
        let component = Component::new(engine, component).map_err(compiled)?;
        let linker = linker(engine).map_err(compiled)?;
        let pre = linker.instantiate_pre(&component).and_then(ScriptGuestPre::new).map_err(compiled)?;
        let (pools, images, loading) = Default::default();
        Ok(Self { code, javascript: pre.clone().into(), shell: pre.into(), pools, images, loading })
    }

    /// Returns the guest of a language, and loads it first if necessary.
    pub(super) fn get(&self, language: Language) -> Result<&ScriptGuestPre<GuestState>, CodeError> {
        let name = name_of(language);
        let slot = match language {
            Language::JavaScript => &self.javascript,
            Language::Shell => &self.shell,
        };
        if let Some(guest) = slot.get() {
            return Ok(guest);
        }
        // Unpacked once, however many threads need it.
        let _one = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guest) = slot.get() {
            return Ok(guest);
        }
        let component = self.code.embedded_guest(name)?;
        let damaged = |error: wasmtime::Error| CodeError::Embedded { name, source: error.into() };
        let linker = linker(component.engine()).map_err(damaged)?;
        let pre = linker.instantiate_pre(&component).and_then(ScriptGuestPre::new).map_err(damaged)?;
        Ok(slot.get_or_init(|| pre))
    }

    fn pools(&self, language: Language) -> &InstancePool {
        &self.pools[index_of(language)]
    }

    /// Creates a fresh instance. If the pool has no free slot, waits up to `patience` for one.
    ///
    /// # Errors
    /// If the guest in this binary cannot be loaded, or the pool of instances is exhausted.
    pub(crate) fn instantiate(
        &self,
        language: Language,
        world: GuestWorld,
        patience: Duration,
    ) -> Result<Guest, CodeError> {
        let pre = self.get(language)?;
        let pools = self.pools(language);
        let taken = code::instantiate(&world.interrupt, patience, || pools.take(pre, &world.interrupt));
        let instance = taken.map_err(|error| match error.downcast::<NoRoom>() {
            Ok(full) => CodeError::Full(full),
            Err(error) => CodeError::Engine(error.into()),
        })?;
        Ok(Guest::new(language, instance, world))
    }

    /// Returns the memory of a fresh instance.
    pub(crate) fn image(&self, language: Language) -> wasmtime::Result<&[u8]> {
        let slot = &self.images[index_of(language)];
        if let Some(image) = slot.get() {
            return Ok(image);
        }
        let mut instance = self.pools(language).take_untouched(self.get(language)?)?;
        let image = with_stack(stack_of(language), || instance.copy_memory())?;
        Ok(slot.get_or_init(|| image))
    }

    /// Creates an instance with the memory of a guest that had waited.
    ///
    /// # Errors
    /// If there is no room for it, or the memory is not one of this guest.
    pub(crate) fn restore(&self, language: Language, memory: &ChangedMemory) -> wasmtime::Result<RestoredInstance> {
        let mut instance = self.pools(language).take_untouched(self.get(language)?)?;
        with_stack(stack_of(language), || memory.put(&mut instance, || self.image(language)))?;
        Ok(RestoredInstance(instance))
    }

    /// Returns the fingerprint of the engine that runs the guest of a language.
    pub(crate) fn engine(&self, language: Language) -> Result<String, CodeError> {
        Ok(tollhouse_engine::fingerprint(self.code.guest_engine(name_of(language))?))
    }
}

impl RestoredInstance {
    /// Makes the instance a guest of a run, which had done this. `keeps` is true if the guest was asked for the state that
    /// its script leaves.
    pub(crate) fn into_guest(
        mut self,
        language: Language,
        world: GuestWorld,
        before: &GuestProgress,
        keeps: bool,
    ) -> Guest {
        world.interrupt.watch(&mut self.0.store);
        let usage = world.usage.clone();
        let mut guest = Guest::new(language, self.0, world);
        guest.instance.store.data_mut().resume(&usage, before);
        guest.keeps = keeps;
        guest
    }
}

/// Returns the name of the guest of a language.
fn name_of(language: Language) -> &'static str {
    match language {
        Language::JavaScript => "js",
        Language::Shell => "shell",
    }
}

/// Returns the place of the guest of a language among the guests.
fn index_of(language: Language) -> usize {
    match language {
        Language::JavaScript => 0,
        Language::Shell => 1,
    }
}

/// Returns the stack that the engine allows the guest of a language, in bytes.
fn stack_of(language: Language) -> usize {
    match language {
        Language::JavaScript => JAVASCRIPT_STACK,
        Language::Shell => SHELL_STACK,
    }
}

/// One instance of a guest. After an error it must not be resumed, only asked for its files and figures.
pub struct Guest {
    instance: PooledInstance,
    limits: wit::Limits,
    /// Stack that the engine allows the instance, in bytes.
    stack: usize,
    /// True if the guest was asked for the state that its script leaves.
    keeps: bool,
}

impl Guest {
    /// Gives an instance the world of a run.
    fn new(language: Language, mut instance: PooledInstance, world: GuestWorld) -> Self {
        let usage = world.usage;
        let limits = wit::Limits { fuel: usage.fuel_left(), memory: usage.memory_limit() };
        // The shell has no use for the runner, and its frames are large: they never lie below another guest's.
        let runner = world.runner.filter(|_| language == Language::JavaScript);
        let state = GuestState::new(world.files, world.output, world.catalog, &usage, world.seed, runner, world.input);
        instance.wake(state);
        Self { instance, limits, stack: stack_of(language), keeps: false }
    }

    /// Returns the memory of the guest as it differs from the image, between two steps; `None` if it is too large to be
    /// kept.
    pub(crate) fn changed_memory(&mut self, image: &[u8]) -> wasmtime::Result<Option<ChangedMemory>> {
        self.enter(|instance| ChangedMemory::take(instance, image))
    }

    /// Returns what the guest has done so far.
    pub(crate) fn progress(&self) -> GuestProgress {
        let state = self.instance.store.data();
        GuestProgress {
            fuel: state.fuel.used(),
            output: state.output.written(),
            random: state.random_position(),
            scripts: state.runner.as_ref().map_or(0, |runner| runner.scripts()),
        }
    }

    /// Starts a script in a directory, at a time (nanoseconds since the epoch), and runs it until it waits or ends. If
    /// the script has a `state`, which is what the previous script left (empty if there was none), its outcome has one
    /// too.
    ///
    /// # Errors
    /// The reason why the guest is gone.
    pub fn start(
        &mut self,
        script: &Script,
        directory: &str,
        state: Option<Vec<u8>>,
        now: u64,
    ) -> Result<Step, GuestError> {
        let tools = self.instance.store.data().catalog.tools();
        let script = wit::Script {
            source: script.source.clone(),
            name: script.name.clone(),
            from_file: script.from_file,
            arguments: script.arguments.clone(),
            environment: script.environment.clone(),
            directory: directory.to_owned(),
            tools: tools
                .into_iter()
                .map(|tool| wit::Tool {
                    method: tool.method,
                    path: tool.path,
                    granted: tool.granted,
                    program: tool.program,
                    open: tool.open,
                    command: tool.command,
                })
                .collect(),
            limits: self.limits,
            state,
            typed: script.typed.map(|Typed { colors }| wit::Typed { colors }),
        };
        self.keeps = script.state.is_some();
        self.instance.store.data_mut().now = now;
        let step = self.enter(|GuestInstance { store, bindings }| bindings.call_start(store, &script));
        self.step(step)
    }

    /// Returns true if a text ends in the middle of a statement.
    ///
    /// # Errors
    /// The reason why the guest is gone.
    pub(crate) fn is_open(&mut self, source: &str, name: &str) -> Result<bool, GuestError> {
        let open = self.enter(|GuestInstance { store, bindings }| bindings.call_is_open(store, source, name));
        open.map_err(|error| self.classify(&error))
    }

    /// Returns the names that a script uses but does not define itself.
    ///
    /// # Errors
    /// The reason why the guest is gone.
    pub(crate) fn mentions(&mut self, source: &str, name: &str) -> Result<Vec<Mention>, GuestError> {
        let found = self.enter(|GuestInstance { store, bindings }| bindings.call_mentions(store, source, name));
        found.map_err(|error| self.classify(&error))
    }

    /// Delivers one completion, at a time, and continues until the script waits or ends.
    ///
    /// # Errors
    /// The reason why the guest is gone.
    pub fn resume(&mut self, completion: Completion, now: u64) -> Result<Step, GuestError> {
        self.instance.store.data_mut().now = now;
        let completion = completion.into();
        let step = self.enter(|GuestInstance { store, bindings }| bindings.call_resume(store, &completion));
        self.step(step)
    }

    /// Enters the guest on a stack that is large enough.
    fn enter<T>(&mut self, call: impl FnOnce(&mut GuestInstance) -> T) -> T {
        with_stack(self.stack, || call(&mut self.instance))
    }

    fn step(&mut self, step: wasmtime::Result<wit::Step>) -> Result<Step, GuestError> {
        let GuestState { fuel, memory, .. } = self.instance.store.data_mut();
        match step.map(|step| Step::read(step, memory.left())) {
            Ok(Step::Finished(outcome)) => {
                fuel.spent(outcome.fuel);
                Ok(Step::Finished(outcome.with_state_limit(self.keeps)))
            }
            Ok(step) => Ok(step),
            Err(error) => {
                fuel.lost();
                Err(self.classify(&error))
            }
        }
    }

    fn classify(&self, error: &wasmtime::Error) -> GuestError {
        match error.downcast_ref::<Stopped>() {
            Some(Stopped::Cancelled) => return GuestError::Cancelled,
            Some(Stopped::Deadline) => return GuestError::Deadline,
            None => {}
        }
        if let Some(refused) = error.downcast_ref::<OutputError>() {
            return GuestError::Output(refused.clone());
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => GuestError::Stack,
            // An allocation that fails ends as `unreachable`, so the refusal before it is the cause.
            Some(_) if self.instance.store.data().memory.refused() => GuestError::Memory,
            Some(Trap::MemoryOutOfBounds) if is_overflow(error) => GuestError::Stack,
            Some(trap) => GuestError::Trap(trap.to_string()),
            None if error.is::<NoMemoryForRead>() => GuestError::Memory,
            None if error.is::<IncompleteInput>() => GuestError::IncompleteInput,
            None => GuestError::Trap(error.root_cause().to_string()),
        }
    }

    /// Most bytes of stack that one step may take.
    pub(crate) fn stack(&self) -> usize {
        self.stack
    }

    /// Returns the files as the guest sees them now.
    #[must_use]
    pub fn files(&self) -> &Tree {
        &self.instance.store.data().files
    }

    /// Swaps the guest's files with another tree, between two steps.
    pub(crate) fn swap_files(&mut self, files: &mut Tree) {
        std::mem::swap(&mut self.instance.store.data_mut().files, files);
    }

    /// Applies a tool's edits to the guest's files, between two steps.
    ///
    /// # Errors
    /// If the edits do not apply; then nothing is changed.
    pub(crate) fn change_files(&mut self, edits: &[Edit]) -> Result<(), ApplyError> {
        if edits.is_empty() { Ok(()) } else { self.instance.store.data_mut().files.apply(edits) }
    }

    /// Replaces the source of the random numbers that the guest draws from now on.
    pub(crate) fn reseed(&mut self, seed: [u8; 32]) {
        self.instance.store.data_mut().reseed(seed);
    }

    /// Returns the bytes written to both streams so far.
    #[must_use]
    pub fn output_bytes(&self) -> u64 {
        self.instance.store.data().output.written()
    }
}
