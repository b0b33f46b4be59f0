/** Separator of table cells in a line: " | ", or a tab in a PDF. */
export const CELL_BORDER = / \| |\t/g
