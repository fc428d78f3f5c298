"""What an attacker has to solve: unknown cells and relations in whole numbers, taken apart, checked exactly."""
