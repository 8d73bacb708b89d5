"""Parts of AOTAutograd."""
