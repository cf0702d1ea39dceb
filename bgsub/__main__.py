"""`python -m bgsub` is the command `bgsub`."""

import sys

from bgsub.cli import main

if __name__ == "__main__":
    sys.exit(main())
