"""What an identifier is in the equations."""

RULE, REACTION = "rule", "reaction"          # a name for an expression
STATE, ALGEBRAIC, MEMORY = "state", "algebraic", "memory"
PARAMETER, CONSTANT = "parameter", "constant"    # a constant is an expression in parameters
