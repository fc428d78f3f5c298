"""Respondents in a certificate: the tables that protect each from all others, and the judge of them."""
