/** Chinese and Japanese numerals of the format modifiers DBNum1 (everyday), DBNum2 (formal) and DBNum3 (wide digits). */
export interface NumeralStyle {
  readonly level: number
  readonly isJapanese: boolean
}

interface Signs {
  readonly digits: string
  readonly units: readonly string[]
  readonly groups: readonly string[]
}

const EVERYDAY: Signs = {
  digits: '〇一二三四五六七八九',
  units: ['', '十', '百', '千'],
  groups: ['', '万', '亿', '兆'],
}
const FORMAL: Signs = { digits: '零壹贰叁肆伍陆柒捌玖', units: ['', '拾', '佰', '仟'], groups: ['', '万', '亿', '兆'] }
const WIDE: Signs = { ...EVERYDAY, digits: '０１２３４５６７８９' }
const JAPANESE_EVERYDAY: Signs = { ...EVERYDAY, groups: ['', '万', '億', '兆'] }
const JAPANESE_FORMAL: Signs = {
  digits: '〇壱弐参四伍六七八九',
  units: ['', '拾', '百', '阡'],
  groups: ['', '萬', '億', '兆'],
}
const JAPANESE_WIDE: Signs = { ...WIDE, groups: JAPANESE_EVERYDAY.groups }

const MAX_NUMERAL = 1e15

function signsOf({ level, isJapanese }: NumeralStyle): Signs {
  if (level === 2) return isJapanese ? JAPANESE_FORMAL : FORMAL
  if (level === 3) return isJapanese ? JAPANESE_WIDE : WIDE
  return isJapanese ? JAPANESE_EVERYDAY : EVERYDAY
}

export function writeDigits(digits: string, style: NumeralStyle): string {
  const signs = signsOf(style)
  return digits.replaceAll(/\d/g, (digit) => signs.digits[Number(digit)] ?? digit)
}

/** Writes a whole number by its value (1234: 一千二百三十四). Japanese leaves out the one before ten, hundred, thousand. */
export function writeNumeral(value: number, style: NumeralStyle): string {
  if (!Number.isInteger(value) || value >= MAX_NUMERAL) return writeDigits(String(value), style)
  const signs = signsOf(style)
  if (value === 0) return style.level === 1 && !style.isJapanese ? '零' : (signs.digits[0] ?? '')
  const digits = Array.from(String(value), Number)
  let text = ''
  let hasGap = false
  digits.forEach((digit, index) => {
    const place = digits.length - 1 - index
    const [unit, group] = [signs.units[place % 4] ?? '', signs.groups[place / 4] ?? '']
    if (digit === 0) hasGap = true
    else {
      if (hasGap && text !== '' && !style.isJapanese) text += style.level === 1 ? '零' : (signs.digits[0] ?? '')
      hasGap = false
      const isLeadingTen = digit === 1 && place % 4 === 1 && (text === '' || style.isJapanese)
      const isSilent = style.level === 1 && (isLeadingTen || (style.isJapanese && digit === 1 && unit !== ''))
      text += `${isSilent ? '' : (signs.digits[digit] ?? '')}${unit}`
    }
    const isGroupWritten = digits.slice(Math.max(0, index - 3), index + 1).some((each) => each !== 0)
    if (place % 4 === 0 && isGroupWritten) text += group
  })
  return text
}
