// The colours of the page that drawing needs as values; the same tokens as app.css.
import type { PlotTheme } from '../widgets/chart/plot';

const LIGHT: PlotTheme = {
  ink: '#667180',
  grid: '#eceff3',
  accent: '#0b6bcb',
  bad: '#d13438',
  panel: '#ffffff',
  strong: '#17202c',
};
const DARK: PlotTheme = {
  ink: '#8a97a8',
  grid: '#202b38',
  accent: '#5aa9f5',
  bad: '#ff6b6b',
  panel: '#151d27',
  strong: '#e6ebf2',
};

export const plotTheme = (dark: boolean): PlotTheme => (dark ? DARK : LIGHT);
