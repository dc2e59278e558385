// A column that may be chosen.

export interface ColumnChoice {
  id: string;
  text: string;
  note?: string; // what kind it is
}
