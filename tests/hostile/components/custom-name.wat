;; A name that is longer than its section.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\00\02\ff\7f")
