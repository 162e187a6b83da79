;; A custom section whose name is not UTF-8.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\00\03\02\ff\fe")
