/**
 * Marks of the fonts Symbol and Wingdings. Files keep them in Unicode's private area, by their place in the font, where they
 * show nothing in another one. Where the two fonts differ, the one is meant whose mark stands in texts.
 */
const MARKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    f020: ' ',
    f02d: '−',
    f06c: '●',
    f06e: '■',
    f06f: '☐',
    f071: '❑',
    f072: '❒',
    f075: '◆',
    f076: '❖',
    f09f: '•',
    f0a7: '▪',
    f0a8: '☐',
    f0b0: '°',
    f0b1: '±',
    f0b4: '×',
    f0b7: '•',
    f0d8: '➢',
    f0e0: '→',
    f0e8: '➔',
    f0fb: '✗',
    f0fc: '✓',
    f0fd: '☒',
    f0fe: '☑',
  }).map(([code, mark]) => [String.fromCharCode(Number.parseInt(code, 16)), mark]),
)

/** One for one, so that offsets stay true. */
export const plainMarks = (text: string): string =>
  text.replaceAll(/[\uf020-\uf0ff]/g, (sign) => MARKS.get(sign) ?? sign)

/** What the items of a list begin with. */
export const BULLETS = '•◦▪▫‣·●○■□◆➢➔✓✗❑❒❖☐☑☒'
