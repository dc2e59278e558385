"""What programs import from tensorboard.plugins: hparams.api, projector, mesh.summary, pr_curve.summary, custom_scalar."""
