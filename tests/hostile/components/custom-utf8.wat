;; A name that is no text.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\00\03\02\ff\fe")
