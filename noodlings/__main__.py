"""`python -m noodlings`.

The folder that holds the package comes first on the path: this form also looks into the folder it is
started in, and a game directory may well have a `commands` package of its own there.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from noodlings.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
