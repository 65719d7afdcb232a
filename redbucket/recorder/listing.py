"""Gives the entries of a folder in sorted order, or in its contrary: no file system promises one."""

import os


def order(how):
    """Sort "ascending" or "descending".

    Replaces ``os.listdir`` and ``os.scandir``, through which glob, pathlib and os.walk go.
    """
    real_list, real_scan = os.listdir, os.scandir
    down = how == "descending"

    def listdir(path="."):
        return sorted(real_list(path), reverse=down)

    class Scan:
        """What ``os.scandir`` returns: an iterator that can be closed."""

        def __init__(self, path):
            with real_scan(path) as found:
                self._entries = iter(sorted(found, key=lambda entry: entry.name, reverse=down))

        def __iter__(self):
            return self

        def __next__(self):
            return next(self._entries)

        def __enter__(self):
            return self

        def __exit__(self, *raised):
            self.close()

        def close(self):
            """Give nothing more."""
            self._entries = iter(())

    def scandir(path="."):
        return Scan(path)

    os.listdir, os.scandir = listdir, scandir
