import { describe, expect, it } from 'vitest';
import { pairTags, trainingRun } from './pairs';

describe('training and validation', () => {
  it('are found by folder, by prefix and by suffix', () => {
    expect(pairTags(['train/loss', 'val/loss', 'lr'])).toEqual([['train/loss', 'val/loss']]);
    expect(pairTags(['loss', 'val_loss', 'accuracy', 'val_accuracy'])).toEqual([
      ['loss', 'val_loss'],
      ['accuracy', 'val_accuracy'],
    ]);
    expect(pairTags(['loss/train', 'loss/test', 'loss/validation'])).toEqual([
      ['loss/train', 'loss/test', 'loss/validation'],
    ]);
    expect(pairTags(['epoch_train_loss', 'epoch_val_loss'])).toEqual([['epoch_train_loss', 'epoch_val_loss']]);
    expect(pairTags(['metrics/Train/acc', 'metrics/Eval/acc'])).toEqual([['metrics/Train/acc', 'metrics/Eval/acc']]);
  });
  it('need a partner, and a name of their own', () => {
    expect(pairTags(['val/loss', 'train/lr', 'train', 'val', 'interval/loss', 'testament'])).toEqual([]);
    expect(pairTags(['val/loss', 'test/loss'])).toEqual([['val/loss', 'test/loss']]);
    expect(pairTags(['loss', 'train/loss', 'val/loss'])).toEqual([['train/loss', 'val/loss']]);
  });
  it('are two runs where Keras wrote them', () => {
    expect(['a/validation', 'validation', 'a/val', 'a/train', 'interval'].map(trainingRun)).toEqual([
      'a/train',
      'train',
      'a/train',
      null,
      null,
    ]);
  });
});
