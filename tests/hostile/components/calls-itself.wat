;; A tool that calls itself through the gate. Such cycles are refused.
;; status: failed
;; error: tool
;; tools: evil/*
;; wit: package evil:calls-itself@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { import t; export t; }

(module
  (import "evil:calls-itself/t@0.1.0" "run" (func $run (result i32)))
  (func (export "evil:calls-itself/t@0.1.0#run") (result i32) (i32.add (i32.const 1) (call $run))))
