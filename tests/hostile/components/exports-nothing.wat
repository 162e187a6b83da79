;; A component without an export is no tool.
;; publish: refused

(component)
