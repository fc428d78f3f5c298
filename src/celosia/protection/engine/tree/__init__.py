"""The tree: integer masters, solved one after another, or cut inside the tree of one."""
