"""The recorder: a small package that runs inside the project's own test process.

Standard library only, Python 3.8 and newer, pytest 7 and newer: it is copied
under a random name outside the judged tree, because redbucket itself is not
installed in the project's interpreter. Nothing here imports ``redbucket``.
"""
