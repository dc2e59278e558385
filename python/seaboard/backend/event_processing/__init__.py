"""What programs import from tensorboard.backend.event_processing: the EventAccumulator."""
