"""A training loop of torch that logs its loss, its weights, its model and some pictures."""

import sys

import torch

from seaboard import SummaryWriter  # instead of: from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(0)
x = torch.linspace(-1, 1, 64)[:, None]
y = x**3 + 0.1 * torch.randn(64, 1)
model = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.02)

with SummaryWriter(sys.argv[1]) as writer:
    writer.add_graph(model, x)
    for step in range(100):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("Loss/train", loss, step)
    for name, parameter in model.named_parameters():
        writer.add_histogram(name, parameter, step)
    writer.add_images("noise", torch.rand(4, 3, 16, 16), step)
    writer.add_text("notes", "a **cubic** function", step)
    writer.add_hparams({"lr": 0.02, "hidden": 16}, {"hparam/loss": loss}, run_name="trial")
