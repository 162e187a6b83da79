;; A function with large frames that calls itself.
;; status: failed
;; error: tool
;; message contains: recursed too deeply
;; wit: package evil:recursion-large-frames@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u64;
;; wit: }
;; wit: world tool { export t; }

(module
  (func $f (param i64 i64 i64 i64 i64 i64 i64 i64) (result i64)
    (i64.add (call $f (i64.add (local.get 0) (i64.const 0)) (i64.add (local.get 1) (i64.const 1)) (i64.add (local.get 2) (i64.const 2)) (i64.add (local.get 3) (i64.const 3)) (i64.add (local.get 4) (i64.const 4)) (i64.add (local.get 5) (i64.const 5)) (i64.add (local.get 6) (i64.const 6)) (i64.add (local.get 7) (i64.const 7))) (local.get 3)))
  (func (export "evil:recursion-large-frames/t@0.1.0#run") (result i64) (call $f (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) )))
