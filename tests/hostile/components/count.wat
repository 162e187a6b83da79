;; A list of types that claims four billion elements.
;; publish: refused

(component binary "\00asm\0d\00\01\00" "\07\05\ff\ff\ff\ff\0f")
