"""Finding what to publish: risk in, pattern out."""

from celosia.verb import make_verb

make_verb(__name__, home="methods")
