"""Whatever touches the world: git, trees, processes, files."""
