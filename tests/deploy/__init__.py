"""What takes registries, root or servers: containers, a hub, clean installs."""
