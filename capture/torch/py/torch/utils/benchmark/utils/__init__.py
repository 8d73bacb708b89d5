"""What measurements are made of."""
