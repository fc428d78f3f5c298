"""What can be computed from a release: attackers' problems, the audit, explanations."""
