;; A destructor that does not return when the script drops the resource.
;; status: limited
;; error: limit
;; script: const thing = await evil.thing.new({}); return await evil.thing.drop({ self: thing })
;; wit: package evil:resource-destructor@0.1.0;
;; wit: interface t {
;; wit:   resource thing { constructor(); }
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (import "[export]evil:resource-destructor/t@0.1.0" "[resource-new]thing" (func $new (param i32) (result i32)))
  (import "[export]evil:resource-destructor/t@0.1.0" "[resource-drop]thing" (func $drop (param i32)))
  (import "[export]evil:resource-destructor/t@0.1.0" "[resource-rep]thing" (func $rep (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "evil:resource-destructor/t@0.1.0#[constructor]thing") (result i32) (call $new (i32.const 7)))
  (func (export "evil:resource-destructor/t@0.1.0#run") (result i32) (i32.const 1))
  (func (export "evil:resource-destructor/t@0.1.0#[dtor]thing") (param i32) (loop (br 0))))
