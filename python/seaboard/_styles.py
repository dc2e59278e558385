"""Whose files a writer makes: the numbers of sb_style."""

TF2, TF1, TORCH, TBX = range(4)
