// Histograms as cards: what this dashboard and the time series page need to show them.
export const heightOf = (_: string, isWide: boolean): number => (isWide ? 400 : 300);
