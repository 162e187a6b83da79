;; A script guest that says whatever it is told to say. Its script is the hexadecimal form of a piece of memory, which it
;; puts at 0x1000: a number of slots, the slots of 144 bytes from 0x1008 on, one for each time that it is entered, and what
;; these point to. A slot is a `step` (136 bytes, as the canonical ABI has it), the address of calls of imports (24 bytes
;; each) that are made first, and their number. Behind the last slot it has finished.
(module
  (import "tollhouse:guest/output@0.1.0" "write" (func $write (param i32 i32 i32)))
  (import "tollhouse:guest/clock@0.1.0" "now" (func $now (result i64)))
  (import "tollhouse:guest/fuel@0.1.0" "spent" (func $spent (param i64) (result i64)))
  (import "tollhouse:guest/random@0.1.0" "bytes" (func $random (param i32 i32)))
  (import "tollhouse:guest/catalog@0.1.0" "describe" (func $describe (param i32 i32 i32)))
  (import "tollhouse:guest/catalog@0.1.0" "help" (func $help (param i32 i32 i32)))
  (import "tollhouse:guest/catalog@0.1.0" "budgets" (func $budgets (param i32)))
  (import "tollhouse:guest/files@0.1.0" "write" (func $file (param i32 i32 i32 i32 i32 i32)))
  (import "tollhouse:guest/files@0.1.0" "read" (func $read (param i32 i32 i64 i64 i32)))
  (import "tollhouse:guest/files@0.1.0" "truncate" (func $truncate (param i32 i32 i64 i32)))
  (import "tollhouse:guest/files@0.1.0" "remove" (func $remove (param i32 i32 i32 i32)))
  (import "tollhouse:guest/files@0.1.0" "rename" (func $rename (param i32 i32 i32 i32 i32)))
  (import "tollhouse:guest/files@0.1.0" "create-link" (func $link (param i32 i32 i32 i32 i32)))
  (import "tollhouse:guest/scripts@0.1.0" "run-to-end" (func $run (param i32 i32)))
  (memory (export "memory") 8)
  (global $turn (mut i32) (i32.const 0))
  (global $next (mut i32) (i32.const 0x10000))
  ;; `finished`, with nothing.
  (data (i32.const 0x200) "\01")

  (func (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get $size)))
    (block $fits
      (br_if $fits (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
      (drop (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get $size) (i32.const 65536))))))
    (local.get $at))

  (func $nibble (param $letter i32) (result i32)
    (select (i32.sub (local.get $letter) (i32.const 87)) (i32.sub (local.get $letter) (i32.const 48))
      (i32.ge_u (local.get $letter) (i32.const 97))))

  ;; The script's text, in pairs of letters.
  (func $unpack (param $from i32) (param $length i32)
    (local $at i32)
    (block $done
      (loop $more
        (br_if $done (i32.ge_u (i32.add (local.get $at) (i32.const 1)) (local.get $length)))
        (br_if $done (i32.ge_u (local.get $at) (i32.const 0x1c000)))
        (i32.store8 offset=0x1000 (i32.shr_u (local.get $at) (i32.const 1))
          (i32.or
            (i32.shl (call $nibble (i32.load8_u (i32.add (local.get $from) (local.get $at)))) (i32.const 4))
            (call $nibble (i32.load8_u offset=1 (i32.add (local.get $from) (local.get $at))))))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (br $more))))

  (func $a (param $c i32) (result i32) (i32.load offset=4 (local.get $c)))
  (func $b (param $c i32) (result i32) (i32.load offset=8 (local.get $c)))
  (func $d (param $c i32) (result i32) (i32.load offset=12 (local.get $c)))
  (func $e (param $c i32) (result i32) (i32.load offset=16 (local.get $c)))
  (func $f (param $c i32) (result i32) (i32.load offset=20 (local.get $c)))

  ;; One call of an import: which (i32), and five numbers.
  (func $call (param $c i32)
    (block $run (block $rename (block $link (block $remove (block $truncate (block $read (block $file (block $budgets
    (block $help (block $describe (block $random (block $spent (block $write
      (br_table $write $spent $random $describe $help $budgets $file $read $truncate $remove $link $rename
        $run (i32.load (local.get $c))))
      (call $write (call $a (local.get $c)) (call $b (local.get $c)) (call $d (local.get $c))) (return))
      (drop (call $spent (i64.load offset=8 (local.get $c)))) (drop (call $now)) (return))
      (call $random (call $a (local.get $c)) (i32.const 0x400)) (return))
      (call $describe (call $a (local.get $c)) (call $b (local.get $c)) (i32.const 0x400)) (return))
      (call $help (call $a (local.get $c)) (call $b (local.get $c)) (i32.const 0x400)) (return))
      (call $budgets (i32.const 0x400)) (return))
      (call $file (call $a (local.get $c)) (call $b (local.get $c)) (call $d (local.get $c)) (call $e (local.get $c))
        (call $f (local.get $c)) (i32.const 0x400)) (return))
      (call $read (call $a (local.get $c)) (call $b (local.get $c)) (i64.extend_i32_u (call $d (local.get $c)))
        (i64.load offset=16 (local.get $c)) (i32.const 0x400)) (return))
      (call $truncate (call $a (local.get $c)) (call $b (local.get $c)) (i64.load offset=16 (local.get $c))
        (i32.const 0x400)) (return))
      (call $remove (call $a (local.get $c)) (call $b (local.get $c)) (call $d (local.get $c)) (i32.const 0x400))
      (return))
      (call $link (call $a (local.get $c)) (call $b (local.get $c)) (call $d (local.get $c)) (call $e (local.get $c))
        (i32.const 0x400)) (return))
      (call $rename (call $a (local.get $c)) (call $b (local.get $c)) (call $d (local.get $c)) (call $e (local.get $c))
        (i32.const 0x400)) (return))
    ;; Where the request lies.
    (call $run (call $a (local.get $c)) (i32.const 0x400)))

  ;; The next slot.
  (func $step (result i32)
    (local $slot i32) (local $calls i32) (local $left i32)
    (local.set $slot (i32.add (i32.const 0x1008) (i32.mul (global.get $turn) (i32.const 144))))
    (global.set $turn (i32.add (global.get $turn) (i32.const 1)))
    (if (i32.gt_u (global.get $turn) (i32.load (i32.const 0x1000))) (then (return (i32.const 0x200))))
    (local.set $calls (i32.load offset=136 (local.get $slot)))
    (local.set $left (i32.and (i32.load offset=140 (local.get $slot)) (i32.const 15)))
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $left)))
        (call $call (local.get $calls))
        (local.set $calls (i32.add (local.get $calls) (i32.const 24)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $more)))
    ;; What the host has lowered was read.
    (global.set $next (i32.const 0x10000))
    (local.get $slot))

  (func (export "wizer-initialize"))
  (func (export "is-open") (param i32 i32 i32 i32) (result i32) (i32.const 0))
  ;; A list is where it begins, and how many it has: there are none.
  (func (export "mentions") (param i32 i32 i32 i32) (result i32) (i32.const 0))
  (func (export "touch") (param i32 i32))
  (func (export "start") (param $script i32) (result i32)
    (call $unpack (i32.load (local.get $script)) (i32.load offset=4 (local.get $script)))
    (call $step))
  (func (export "resume") (param $completion i32) (result i32) (call $step)))
