/** The text of a sheet of lamps, as the server stores it, with the offset and number of each row. */
export function makeSheetText(count: number): { text: string; rows: [start: number, row: number][] } {
  const rows: [start: number, row: number][] = []
  let text = 'Lamps\n'
  for (let row = 1; row <= count; row += 1) {
    text += '\n'
    rows.push([text.length, row])
    text += row === 1 ? 'Lamp | Place | Watts' : `Lamp ${row} | Corridor ${row % 40} | ${row % 100}`
  }
  return { text, rows }
}
