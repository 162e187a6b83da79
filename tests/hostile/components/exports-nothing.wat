;; A component without exports, which is not a tool.
;; publish: refused

(component)
