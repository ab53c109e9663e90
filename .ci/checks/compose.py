"""Parses the Compose files as the Compose specification says, and checks that a wrong name would be found."""

import sys
from pathlib import Path

from compose_spec import PyCompose

VARIABLE = "${LATCHKEY_IMAGE:-latchkey}"

files = sorted(Path("packaging/compose").glob("*.yaml"))
for file in files:
    text = file.read_text().replace(VARIABLE, "latchkey")
    PyCompose.from_yaml(text).validate()
    for right, wrong in [("    restart:", "    restrat:"), ("\nvolumes:", "\nvolume:")]:
        try:
            PyCompose.from_yaml(text.replace(right, wrong)).validate()
        except Exception:
            continue
        sys.exit(f"{file}: the wrong name {wrong.strip()} is accepted")
print(f"{len(files)} Compose files are valid")
