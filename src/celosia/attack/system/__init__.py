"""What an attacker has to solve: unknown cells and relations in whole numbers, components, exact arithmetic."""
