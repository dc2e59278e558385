"""python -m seaboard: the seaboard command."""

from seaboard._command import main

main()
