"""What programs import from tensorboard.backend: the EventAccumulator."""
