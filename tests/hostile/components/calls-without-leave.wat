;; A tool that calls itself without a grant.
;; status: failed
;; error: tool
;; wit: package evil:calls-without-leave@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { import t; export t; }

(module
  (import "evil:calls-without-leave/t@0.1.0" "run" (func $run (result i32)))
  (func (export "evil:calls-without-leave/t@0.1.0#run") (result i32) (i32.add (i32.const 1) (call $run))))
