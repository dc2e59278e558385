"""The PR curves dashboard; programs import summary from here."""
