"""``python -m redbucket``."""

import sys

from redbucket.cli import main

sys.exit(main())
