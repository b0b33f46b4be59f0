/** Right and wrong sentences over the texts of `claim-texts.ts`, by rules: other written forms, and planted faults. */
import { CLAIM_TEXTS, type ClaimText, type Fact } from './claim-texts.ts'

export interface PlantedClaim {
  readonly type: string
  readonly language: string
  readonly answer: string
  readonly passages: readonly string[]
  readonly isFault: boolean
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  en: ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
  de: ['zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'],
  fr: ['deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf'],
  es: ['dos', 'tres', 'cuatro', 'cinco', 'seis', 'siete', 'ocho', 'nueve'],
  it: ['due', 'tre', 'quattro', 'cinque', 'sei', 'sette', 'otto', 'nove'],
  pt: ['dois', 'três', 'quatro', 'cinco', 'seis', 'sete', 'oito', 'nove'],
  nl: ['twee', 'drie', 'vier', 'vijf', 'zes', 'zeven', 'acht', 'negen'],
  pl: ['dwa', 'trzy', 'cztery', 'pięć', 'sześć', 'siedem', 'osiem', 'dziewięć'],
  ru: ['два', 'три', 'четыре', 'пять', 'шесть', 'семь', 'восемь', 'девять'],
  ja: ['二', '三', '四', '五', '六', '七', '八', '九'],
  zh: ['两', '三', '四', '五', '六', '七', '八', '九'],
}
const ABOUT: Readonly<Record<string, string>> = { en: 'about ', de: 'rund ', fr: 'environ ', es: 'unos ', it: 'circa ', pt: 'cerca de ', nl: 'ongeveer ', pl: 'około ', ru: 'около ', zh: '约', ja: '約', ko: '약 ', ar: 'حوالي ' } // prettier-ignore

const plain = (value: number, language: string, options: Intl.NumberFormatOptions = {}) =>
  new Intl.NumberFormat(language, { useGrouping: 'always', maximumFractionDigits: 3, ...options }).format(value)

function roundTo(value: number, digits: number): number {
  const step = 10 ** (Math.floor(Math.log10(value)) + 1 - digits)
  return Math.round(value / step) * step
}

type Form = readonly [type: string, text: string]

/** Every way in which a fact is written in a language; the first is that of the text. */
function formsOf(fact: Fact, language: string): Form[] {
  switch (fact.kind) {
    case 'number':
      return [
        ['number', plain(fact.value, language)],
        ['number: bare', String(fact.value)],
        ['number: rounded', `${ABOUT[language] ?? '~'}${plain(roundTo(fact.value, 2), language)}`],
      ]
    case 'percent':
      return [
        ['percent', plain(fact.value / 100, language, { style: 'percent', maximumFractionDigits: 1 })],
        ['percent: bare', `${plain(fact.value, language)}%`],
        ['percent: rounded', `${ABOUT[language] ?? '~'}${plain(Math.round(fact.value), language)} %`],
      ]
    case 'money': {
      const style = { style: 'currency', currency: fact.currency, minimumFractionDigits: 0 } as const
      return [
        ['money', plain(fact.value, language, style)],
        ['money: code', `${plain(fact.value, language)} ${fact.currency}`],
        ['money: name', plain(fact.value, language, { ...style, currencyDisplay: 'name' })],
        ...(fact.value >= 1e5 ? ([['money: compact', plain(fact.value, language, { ...style, notation: 'compact', compactDisplay: 'long', currencyDisplay: 'name' })], ['money: short', plain(fact.value, language, { ...style, notation: 'compact', compactDisplay: 'short' })]] as Form[]) : []), // prettier-ignore
      ]
    }
    case 'unit':
      return (['long', 'short', 'narrow'] as const).map((unitDisplay): Form => [`unit: ${unitDisplay}`, plain(fact.value, language, { style: 'unit', unit: fact.unit, unitDisplay })]) // prettier-ignore
    case 'duration': {
      const long = plain(fact.value, language, { style: 'unit', unit: fact.unit, unitDisplay: 'long' })
      const word = WORDS[language]?.[fact.value - 2]
      return [
        ['duration', long],
        ...(word === undefined ? [] : [['duration: word', long.replace(plain(fact.value, language), word)] as const]),
        ['duration: short', plain(fact.value, language, { style: 'unit', unit: fact.unit, unitDisplay: 'short' })],
      ]
    }
    case 'date': {
      const at = new Date(`${fact.value}T12:00:00Z`)
      const [full = '', month = '', day = ''] = fact.value.split('-')
      return [
        ...(['long', 'medium', 'short'] as const).map((dateStyle): Form => [`date: ${dateStyle}`, new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { dateStyle, timeZone: 'UTC' }).format(at)]), // prettier-ignore
        ['date: ISO', fact.value],
        ['date: points', `${day}.${month}.${full}`],
        ['date: month', new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(at)], // prettier-ignore
      ]
    }
    case 'year':
      return [['year', String(fact.value)]]
    case 'time':
      return [
        ['time', fact.value],
        ['time: h', fact.value.replace(/^0/, '').replace(':', 'h')],
        ['time: am', `${fact.value.replace(/^0/, '')} a.m.`],
      ]
    case 'name':
      return [
        ['name', fact.value],
        ['name: last', fact.value.split(' ').at(-1) ?? ''],
      ]
    case 'code':
      return [
        ['code', fact.value],
        ['code: blank', fact.value.replace('-', ' ')],
      ]
  }
}

/** A digit of the first three is changed, so that a rounded form differs as well. */
function otherDigit(value: number, turn: number): number {
  const digits = String(value)
  const places = Array.from(digits)
    .flatMap((digit, index) => (/\d/.test(digit) ? [index] : []))
    .slice(0, 2)
  const place = places[turn % places.length] ?? 0
  const digit = Number(digits[place])
  const other = digit >= 8 ? digit - 3 : digit + 2
  return Number(digits.slice(0, place) + String(other) + digits.slice(place + 1))
}

function shiftDate(value: string, turn: number): string {
  const at = new Date(`${value}T12:00:00Z`)
  if (turn % 3 === 0) at.setUTCDate(at.getUTCDate() + 1)
  else if (turn % 3 === 1) at.setUTCMonth(at.getUTCMonth() + 1)
  else at.setUTCFullYear(at.getUTCFullYear() - 1)
  return at.toISOString().slice(0, 10)
}

const OTHER_UNITS = { day: 'week', week: 'day', month: 'year', year: 'month' } as const

function plantFault(fact: Fact, turn: number): readonly [type: string, fault: Fact] {
  switch (fact.kind) {
    case 'money':
      if (turn % 3 === 1 && fact.value >= 1e6) return ['magnitude', { ...fact, value: fact.value * 1_000 }]
      if (turn % 3 === 2) return ['currency', { ...fact, currency: fact.currency === 'USD' ? 'GBP' : 'USD' }]
      return ['digit', { ...fact, value: otherDigit(fact.value, turn) }]
    case 'unit':
      if (turn % 2 === 1) return ['unit', { ...fact, unit: fact.unit === 'kilogram' ? 'gram' : fact.unit === 'meter' ? 'kilometer' : 'meter' }] // prettier-ignore
      return ['digit', { ...fact, value: otherDigit(fact.value, turn) }]
    case 'number':
    case 'percent':
      return ['digit', { ...fact, value: otherDigit(fact.value, turn) }]
    case 'duration':
      if (turn % 3 === 2) return ['unit', { ...fact, unit: OTHER_UNITS[fact.unit] }]
      return ['number', { ...fact, value: fact.value + (turn % 2 === 0 ? 1 : 2) }]
    case 'date':
      return [['day', 'month', 'year'][turn % 3] ?? '', { ...fact, value: shiftDate(fact.value, turn) }]
    case 'year':
      return ['year', { ...fact, value: fact.value + (turn % 2 === 0 ? 1 : -2) }]
    case 'time': {
      const [hour = '', minute = ''] = fact.value.split(':')
      return ['time', { ...fact, value: turn % 2 === 0 ? `${String(Number(hour) + 2).padStart(2, '0')}:${minute}` : `${hour}:${minute === '30' ? '50' : '20'}` }] // prettier-ignore
    }
    case 'name':
      return ['name', { ...fact, value: fact.others[turn % fact.others.length] ?? '' }]
    case 'code':
      return ['code', { ...fact, value: fact.other }]
  }
}

const fill = (frame: string, texts: Readonly<Record<string, string>>) =>
  frame.replace(/\{(\w)\}/g, (_, key: string) => texts[key] ?? '')
const written = (facts: Readonly<Record<string, Fact>>, language: string) =>
  Object.fromEntries(Object.entries(facts).map(([key, fact]) => [key, formsOf(fact, language)[0]?.[1] ?? '']))

const passageOf = ({ language, sentences }: ClaimText): string =>
  sentences.map(([frame, facts]) => fill(frame, written(facts, language))).join(' ')

/** A short neutral frame in another language: the answer need not be in that of the passage. */
const OTHER_FRAMES: Readonly<Record<string, string>> = {
  en: 'According to the document, it is {x} [1].',
  de: 'Laut dem Dokument ist es {x} [1].',
}

const MONTHLY = /^date: month$/

/** All claims in a fixed order; `turn` walks through the forms and the faults. */
export function plantClaims(): PlantedClaim[] {
  const all = CLAIM_TEXTS.map(passageOf)
  const claims: PlantedClaim[] = []
  let turn = 0
  for (const [index, text] of CLAIM_TEXTS.entries()) {
    const { language, sentences } = text
    const passages = [all[index] ?? '', all[(index + 1) % all.length] ?? '']
    for (const [frame, facts] of sentences) {
      for (const [key, fact] of Object.entries(facts)) {
        const add = (type: string, given: Fact, form: number, isFault: boolean, other?: string) => {
          const forms = formsOf(given, other ?? language)
          const [formType = '', shown = ''] = forms[form % forms.length] ?? []
          // The month is right although the day is wrong, and a rounded figure may be.
          if (isFault && given.kind === 'year' && passages[0]?.includes(String(given.value)) === true) return
          if (isFault && ((MONTHLY.test(formType) && type === 'day') || /rounded/.test(formType))) return
          const frameOf = other === undefined ? frame : (OTHER_FRAMES[other] ?? '')
          const sentence = fill(frameOf, { ...written(facts, language), [key]: shown, x: shown })
          const answer = other === undefined ? sentence.replace(/([.。])$/, ' [1]$1') : sentence
          claims.push({ type: isFault ? `${given.kind}: ${type}` : formType, language, answer, passages, isFault })
        }
        for (const [form] of formsOf(fact, language).entries()) add('', fact, form, false)
        for (let fault = 0; fault < 3; fault += 1) {
          const [type, wrong] = plantFault(fact, turn)
          add(type, wrong, turn, true)
          turn += 1
        }
        if (fact.kind !== 'name' && fact.kind !== 'time') {
          const other = language === 'en' ? 'de' : 'en'
          add('', fact, turn, false, other)
          const [type, wrong] = plantFault(fact, turn)
          add(type, wrong, turn, true, other)
        }
      }
    }
  }
  return claims
}
