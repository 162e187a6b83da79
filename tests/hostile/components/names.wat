;; Functions with the names of methods of all objects or of promises. They are ordinary tools.
;; script: const all = []; for (const name of ['then', 'constructor', 'toJson', 'valueOf', 'hasOwnProperty', 'eval', 'await']) all.push(await evil[name]({})); return all
;; status: completed
;; value: [0, 1, 2, 3, 4, 5, 6]
;; wit: package evil:names@0.1.0;
;; wit: interface t {
;; wit:   %then: func() -> u32;
;; wit:   %constructor: func() -> u32;
;; wit:   %to-json: func() -> u32;
;; wit:   %value-of: func() -> u32;
;; wit:   %has-own-property: func() -> u32;
;; wit:   %eval: func() -> u32;
;; wit:   %await: func() -> u32;
;; wit: }
;; wit: world tool { export t; }

(module
  (func (export "evil:names/t@0.1.0#then") (result i32) (i32.const 0))
  (func (export "evil:names/t@0.1.0#constructor") (result i32) (i32.const 1))
  (func (export "evil:names/t@0.1.0#to-json") (result i32) (i32.const 2))
  (func (export "evil:names/t@0.1.0#value-of") (result i32) (i32.const 3))
  (func (export "evil:names/t@0.1.0#has-own-property") (result i32) (i32.const 4))
  (func (export "evil:names/t@0.1.0#eval") (result i32) (i32.const 5))
  (func (export "evil:names/t@0.1.0#await") (result i32) (i32.const 6)))
