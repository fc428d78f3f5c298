"""Attacks by respondents, alone and in coalitions, who know what they contribute themselves."""
