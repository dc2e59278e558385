// Simplified Chinese.
import type { Key } from './en';

export const texts: Record<Key, string> = {
  markdown: 'Markdown',
  markdownTitle: '以 Markdown 显示文本，或按记录的原样显示',
  link: '联动步数',
  linkTitle: '所有卡片显示同一步（如有）',
  linkNot: '仅当时间序列的横轴为“步数”时才能联动',
  step: '{name} 的步数',
  one: '1 条文本',
  count: '第 {n} / {total} 条文本',
  textOf: '{name} 的文本',
  copy: '复制文本',
  cut: '仅显示全部 {whole} 中的前 {part}。',
  all: '显示全部',
  empty: '此文本为空。',
  gone: '日志已更改：此文本已不在原处。',
  unreadable: '无法读取此文本（{code}）。',
  previous: '卡片的上一步',
  next: '卡片的下一步',
};
