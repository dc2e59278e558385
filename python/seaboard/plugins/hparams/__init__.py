"""The hyperparameters dashboard; programs import api from here."""
