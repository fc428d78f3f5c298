"""The seed of a result, as pages of the office tell it."""

from __future__ import annotations

from celosia.protection.result import Protection


def describe_seed(result: Protection) -> dict[str, str]:
    """Return the seed by its name, for the page, which is the office's and may tell a secret one."""
    secret = getattr(result.method, "secret", None)
    if result.secret_place:
        return {"Secret seed": f"kept in {result.secret_place} (whoever knows it undoes the protection)"}
    name, number = ("secret", secret) if secret is not None else ("seed", result.seed)
    if secret is None and not result.method.seed_is_secret:
        return {"Seed": str(number)}
    words = f"{number} (whoever knows it undoes the protection; the same result with {name} = {number})"
    return {"Secret seed": words}
