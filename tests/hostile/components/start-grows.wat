;; A start function that allocates all available memory.
;; status: limited
;; error: limit
;; message contains: memory limit of 67108864 bytes
;; wit: package evil:start-grows@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: world tool { export t; }

(module
  (memory 1)
  (func $start (loop (br_if 0 (i32.ge_s (memory.grow (i32.const 16)) (i32.const 0)))) unreachable)
  (start $start)
  (func (export "evil:start-grows/t@0.1.0#run")))
