;; A large maximum of memory, which costs nothing until the memory is allocated.
;; status: completed
;; value: 1
;; wit: package evil:memory-maximum@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory 1 65536)
  (func (export "evil:memory-maximum/t@0.1.0#run") (result i32) (i32.const 1)))
