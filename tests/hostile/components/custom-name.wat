;; A custom section whose name is longer than the section.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\00\02\ff\7f")
