"""Table in, Risk out: rules, protection levels, requirements, attackers, costs."""
