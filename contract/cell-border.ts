/** Stands between the cells of a table's line: " | ", and in a pdf a tab. */
export const CELL_BORDER = / \| |\t/g
