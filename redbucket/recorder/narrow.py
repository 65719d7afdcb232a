"""Which files a run of some tests needs: the others are neither imported nor collected."""

import os


class Narrow:
    """``only`` names tests, ``files`` names files, ``without`` those to be left out; without any all are needed."""

    def __init__(self, tree, settings):
        self._wanted = self._folders = None
        self._without = {os.path.join(tree, name) for name in settings["without"]}
        only, files = settings["only"], settings["files"]
        if only is None and not files:
            return
        paths = {os.path.join(tree, name) for name in files}
        paths = {path for path in paths if os.path.isfile(path)}  # one that is gone has no tests
        if only is not None:
            named = {os.path.join(tree, name.partition("::")[0]) for name in only}
            if not all(os.path.isfile(path) for path in named):
                return  # an id that does not name its file: everything is collected, as in a full run
            paths |= named
        self._wanted = paths
        self._folders = {tree}
        for path in paths:
            folder = os.path.dirname(path)
            while folder not in self._folders and len(folder) > len(tree):
                self._folders.add(folder)
                folder = os.path.dirname(folder)

    def leaves_out(self, path):
        """Return True for a file or folder that holds none of the wanted tests."""
        if path in self._without:
            return True
        return self._wanted is not None and path not in self._wanted and path not in self._folders
