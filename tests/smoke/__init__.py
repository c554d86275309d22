"""The built product, away from the checkout."""
