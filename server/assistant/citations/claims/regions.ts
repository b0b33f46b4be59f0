/** Countries by their names in many languages: a country is the same in the language of the answer and of its passage. */

const LOCALES =
  'en de fr es it pt nl sv da nb fi pl cs sk sl hr hu ro bg ru uk el tr id vi ca et lv lt ar fa he hi th zh ja ko'.split(
    ' ',
  )
const CODES =
  'AD AE AF AG AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CL CM CN CO CR CU CV CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FR GA GB GD GE GH GM GN GQ GR GT GW GY HK HN HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KE KG KH KM KP KR KW KZ LA LB LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MR MT MU MV MW MX MY MZ NA NE NG NI NL NO NP NZ OM PA PE PG PH PK PL PS PT PY QA RO RS RU RW SA SB SC SD SE SG SI SK SL SM SN SO SR SS SV SY SZ TD TG TH TJ TL TM TN TO TR TT TW TZ UA UG US UY UZ VA VE VN VU YE ZA ZM ZW'.split(
    ' ',
  )
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'u.s.': 'US', usa: 'US', 'u.s.a.': 'US', america: 'US', amerika: 'US', uk: 'GB', 'u.k.': 'GB', 'great britain': 'GB', britain: 'GB', england: 'GB', großbritannien: 'GB', holland: 'NL', czechia: 'CZ', 'czech republic': 'CZ', 'south korea': 'KR', korea: 'KR', ссср: 'RU', 美: 'US', 中国: 'CN',
} // prettier-ignore

let cachedNames: ReadonlyMap<string, string> | undefined

function regionNames(): ReadonlyMap<string, string> {
  if (cachedNames) return cachedNames
  const names = new Map<string, string>(Object.entries(OTHER_NAMES))
  for (const locale of LOCALES) {
    const display = new Intl.DisplayNames(locale, { type: 'region' })
    for (const code of CODES) {
      const name = display.of(code)?.toLowerCase()
      if (name !== undefined && name.length > 1 && !names.has(name)) names.set(name, code)
    }
  }
  return (cachedNames = names)
}

/** Code of the country that has this name, in lower case, in any language. */
export function regionNamed(name: string): string | undefined {
  return regionNames().get(name)
}

const MAX_WORDS = 4

/** Codes of the countries that a text names, where words are separated by blanks. */
export function regionsIn(words: readonly string[]): ReadonlySet<string> {
  const names = regionNames()
  const codes = new Set<string>()
  for (let from = 0; from < words.length; from += 1) {
    let phrase = ''
    for (let to = from; to < Math.min(words.length, from + MAX_WORDS); to += 1) {
      phrase = to === from ? (words[to] ?? '') : `${phrase} ${words[to] ?? ''}`
      const code = names.get(phrase) ?? names.get(phrase.replace(/(?:'s|’s|s|n|es)$/, ''))
      if (code !== undefined) codes.add(code)
    }
  }
  return codes
}
