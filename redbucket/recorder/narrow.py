"""Which files a run of few tests needs: the others are neither imported nor collected."""

import os


class Narrow:
    """``only`` names tests, ``files`` names files; without either nothing is left out."""

    def __init__(self, tree, settings):
        self._wanted = self._folders = None
        names = list(settings["files"])
        if settings["only"] is not None:
            names += [name.partition("::")[0] for name in settings["only"]]
        if not names:
            return
        paths = {os.path.join(tree, name) for name in names}
        if not all(os.path.isfile(path) for path in paths):
            return  # an id that does not name its file: everything is collected, as in a full run
        self._wanted = paths
        self._folders = {tree}
        for path in paths:
            folder = os.path.dirname(path)
            while folder not in self._folders and len(folder) > len(tree):
                self._folders.add(folder)
                folder = os.path.dirname(folder)

    def leaves_out(self, path):
        """Return True for a file or folder that holds none of the wanted tests."""
        return self._wanted is not None and path not in self._wanted and path not in self._folders
