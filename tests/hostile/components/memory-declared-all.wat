;; A declaration of all memory that 32 bits can address.
;; status: limited
;; error: limit
;; message contains: memory limit of 67108864 bytes
;; wit: package evil:memory-declared-all@0.1.0;
;; wit: interface t {
;; wit:   run: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (memory 65536)
  (func (export "evil:memory-declared-all/t@0.1.0#run") (result i32) (i32.const 1)))
