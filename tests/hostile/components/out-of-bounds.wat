;; An address beyond the memory.
;; status: failed
;; error: tool
;; message contains: trapped
;; wit: package evil:out-of-bounds@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module (memory 1) (func (export "evil:out-of-bounds/t@0.1.0#run") (result i32) (i32.load (i32.const -4))))
