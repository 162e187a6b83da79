;; A list of types that says that it has four billion.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\07\05\ff\ff\ff\ff\0f")
