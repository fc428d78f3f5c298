"""Columns of requirements' own, behind those of cells: of corners, and of joint cells of linked tables."""
