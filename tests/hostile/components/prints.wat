;; A tool that prints endlessly. The host keeps only a little, and the time limit of the run ends the tool.
;; status: limited
;; error: limit
;; message contains: time limit
;; wit: package evil:prints@0.1.0;
;; wit: interface t {
;; wit:   run: func();
;; wit: }
;; wit: package wasi:io@0.2.0 {
;; wit:   interface error { resource error; }
;; wit:   interface streams {
;; wit:     use error.{error};
;; wit:     variant stream-error { last-operation-failed(error), closed }
;; wit:     resource output-stream { blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>; }
;; wit:   }
;; wit: }
;; wit: package wasi:cli@0.2.0 {
;; wit:   interface stdout { use wasi:io/streams@0.2.0.{output-stream}; get-stdout: func() -> output-stream; }
;; wit: }
;; wit: world tool { import wasi:cli/stdout@0.2.0; export t; }

(module
  (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush" (func $write (param i32 i32 i32 i32)))
  (memory (export "memory") 2)
    (global $next (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.add (global.get $next) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -8))))
    (local.get $at))
  (func (export "evil:prints/t@0.1.0#run") (local $out i32)
    (local.set $out (call $stdout))
    (loop (call $write (local.get $out) (i32.const 64) (i32.const 4096) (i32.const 16)) (br 0))))
