;; A section that claims four gigabytes.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\01\ff\ff\ff\ff\0f")
