"""The mesh dashboard; programs import summary (or summary_v2) from here."""
