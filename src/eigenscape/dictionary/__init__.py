"""Few points that stand for many: landmarks."""
