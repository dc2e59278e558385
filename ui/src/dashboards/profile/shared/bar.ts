// Bars beside the numbers of a column of a table: they are as long as the numbers are large.
export const LONGEST = 40; // pixels
export const COLUMN = 120; // of a column that has room for the longest bar beside any number
