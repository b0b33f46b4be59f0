/** Symbol and Wingdings at private-use code points. If both use one, the mark that is usual in texts wins. */
const SYMBOL_MARKS: ReadonlyMap<string, string> = new Map(
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
    f078: '☒',
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

/** Symbol from 0x20 and from 0xa0 ("PostScript Language Reference", appendix E). */
const SYMBOL = [
  [0x20, ' !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼'],
  [0xa0, '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪'],
  [0xf1, '〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭'],
] as const
const SYMBOLS: ReadonlyMap<string, string> = new Map(
  SYMBOL.flatMap(([first, signs]) =>
    Array.from(signs, (sign, index) => [String.fromCharCode(0xf000 + first + index), sign] as const),
  ),
)
/** Letters and formula signs, which mean Symbol in any font; other code points may as well be pictures. */
const LIKELY_SYMBOL =
  /[\uf061-\uf07a\uf0a2\uf0a3\uf0a5\uf0ac\uf0ae\uf0b2\uf0b3\uf0b5\uf0b6\uf0b8-\uf0bb\uf0c5-\uf0d1\uf0d5-\uf0d7\uf0db\uf0de\uf0e5\uf0f2]/

/** Replaces one for one, so that offsets stay valid. */
export const decodeSymbolMarks = (text: string): string =>
  text.replaceAll(
    /[\uf020-\uf0ff]/g,
    (sign) => SYMBOL_MARKS.get(sign) ?? (LIKELY_SYMBOL.test(sign) ? SYMBOLS.get(sign) : undefined) ?? sign,
  )

/** For text known to be in Symbol; replaces one for one. */
export const decodeSymbolFont = (text: string): string =>
  text.replaceAll(/[\uf020-\uf0ff]/g, (sign) => SYMBOLS.get(sign) ?? sign)

export const BULLETS = '•◦▪▫‣·●○■□◆➢➔✓✗❑❒❖☐☑☒'
