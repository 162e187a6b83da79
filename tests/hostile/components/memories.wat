;; Thirty memories.
;; status: failed
;; error: tool
;; wit: package evil:memories@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (memory 1)
  (func (export "evil:memories/t@0.1.0#run") (result i32) (i32.const 1)))
