"""Puts the engine and the real world together: sessions, hooks, the demonstration, what is printed."""
