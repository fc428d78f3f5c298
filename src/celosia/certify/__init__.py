"""Proof in exact arithmetic: certificates that a release is safe, and their verification without a solver."""

from celosia.verb import make_verb

make_verb(__name__, home="certificate")
