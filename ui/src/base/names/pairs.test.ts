import { describe, expect, it } from 'vitest';
import { pairTags, roleOf, trainingRun } from './pairs';

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
  it('are roles of runs by folder, or by the end of the names that torch gives to add_scalars', () => {
    expect(roleOf('a/validation/x')).toEqual({ role: 'validation', stem: 'a/x' });
    expect(roleOf('lr0.1/loss_train')).toEqual({ role: 'train', stem: 'lr0.1/loss' });
    expect(roleOf('loss_Val')).toEqual({ role: 'validation', stem: 'loss' });
    expect(roleOf('train/loss_val')).toEqual({ role: 'train', stem: 'loss_val' });
    for (const name of ['my_test', 'loss_train/x', 'interval', '_val', 'retrain'])
      expect(roleOf(name)).toEqual({ role: '', stem: name });
  });
});
