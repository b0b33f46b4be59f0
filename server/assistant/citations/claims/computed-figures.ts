/** Whether a figure is computed from others: a sum, a difference, a share, a mean. Pure. */
import type { NumberFigure, Reading } from './figures.ts'

const SUM =
  /total|\bsum\b|together|combined|altogether|\bin all\b|overall|insgesamt|zusammen|summe|gesamt|somme|ensemble|cumul|\bsuma|juntos|conjunto|compless|somma|insieme|soma\b|totaal|samen|łącznie|razem|итог|всего|сумм|вместе|合計|総計|计|合わせ|共|총|합계|إجمالي|المجموع|مجموع|कुल|toplam|sammanlagt|i alt|yhteensä|\+/u
const DIFFERENCE =
  /differ|more than|less than|fewer|higher|lower|increas|decreas|\brose\b|\bgrew\b|\bgrow|\bfell\b|declin|\bdropp|\bdrop\b|\bclimb|\brisen\b|\brising\b|\bgain|\blost\b|\bshrank|\bshrunk|\bup\b|\bdown\b|\bgap\b|remain|\bleft\b|apart|longer|shorter|older|younger|later|earlier|unterschied|differenz|mehr|weniger|höher|niedriger|gestiegen|gesunken|stieg|sank|zunahme|zuwachs|rückgang|länger|kürzer|später|différence|écart|de plus|de moins|augment|hausse|baisse|diferen|más|menos|aument|incremento|reduc|disminu|differenza|più|meno|diminu|aumento|verschil|meer|minder|hoger|lager|różnic|więcej|mniej|wzrost|spadek|разниц|больше|меньше|рост|сниж|差|增加|减少|減少|上回|下回|多|少|증가|감소|차이|الفرق|زيادة|انخفاض|अंतर|−| - /u
const RATIO =
  /times|double|triple|ratio|share|proportion|percent|per cent|%|anteil|quote|-mal|\bmal\b|doppelt|dreifach|prozent|fois|part de|pour cent|veces|proporción|por ciento|volte|quota|vezes|keer|razy|доля|раз|процент|倍|割合|占|比|비율|배|نسبة|गुना|\bper\b|\bpro\b|÷|\//u
const MEAN =
  /average|mean|\bavg\b|durchschnitt|mittel|moyenne|promedio|media|média|gemiddeld|średni|средн|平均|평균|متوسط|औसत/u

/** A number of equal amounts: "three months' rent, that is 3,750 euros", "8 tablets (4,000 mg)". */
const PRODUCT =
  /that is|i\.e\.|=|×|\beach\b|apiece|times|das heißt|d\. ?h\.|das sind|\balso\b|\bje\b|jeweils|\bsoit\b|c['’]est-à-dire|chacun|es decir|\bcada\b|cioè|ciascun|ossia|ou seja|\bdus\b|\belk|то есть|кажд|すなわち|つまり|各|即|每|즉|각각|أي|\(\s*(?:=|≈|~)?\s*[$€£¥]?\d/u
const MAX_COUNT = 100

/** An amount a month and the amount a year. */
const RATE =
  /month|year|annual|quarter|week|\bday\b|daily|monat|jahr|jährlich|woche|täglich|mois|\ban\b|année|annuel|semaine|mensual|\bmes\b|año|anual|mese|mensile|anno|annuo|mês|ano\b|maand|jaar|miesi|roczn|rok|месяц|год|ежегодн|月|年|週|매월|연간|شهر|سنة|महीने|साल/u
const PERIODS = [12, 4, 52, 365]
const DURATIONS = new Set(['days', 'months'])
/** Operands that an answer gives together with the share of one in the other. */
const MAX_TOLD = 4

export interface Operands {
  /** Figures of the same block of the answer that are in the cited passages. */
  readonly ofAnswer: readonly NumberFigure[]
  readonly ofSources: readonly NumberFigure[]
}

const MAX_OWN = 12
const MAX_SOURCE_NUMBERS = 40
const MAX_SOURCE_RATIOS = 8
const FEW = 10
const TELLING_DIGITS = 3
const TELLING_VALUE = 1_000

const valuesOf = (figures: readonly NumberFigure[], { unit }: NumberFigure): number[] => [
  ...new Set(
    figures
      .filter((figure) => !unit || !figure.unit || figure.unit.family === unit.family || unit.family === 'percent')
      .flatMap((figure) => figure.readings.slice(0, 1).map(({ value }) => (value * (figure.unit?.factor ?? 1)) / (unit && unit.family === figure.unit?.family ? unit.factor : (figure.unit?.factor ?? 1)))), // prettier-ignore
  ),
]

function* pairs(values: readonly number[]): Generator<readonly [number, number]> {
  for (const one of values) for (const other of values) if (one !== other) yield [one, other]
}

function* sums(values: readonly number[], isSmall: boolean): Generator<number> {
  if (isSmall && values.length > 2) yield values.reduce((sum, value) => sum + value, 0)
  for (const [index, one] of values.entries()) {
    yield one * 2
    for (const [further, other] of values.slice(index + 1).entries()) {
      yield one + other
      if (isSmall) for (const third of values.slice(index + further + 2)) yield one + other + third
    }
  }
}

function* ratios(values: readonly number[]): Generator<number> {
  for (const [one, other] of pairs(values)) {
    if (other === 0) continue
    yield one / other
    yield (one / other) * 100
    yield ((one - other) / other) * 100
  }
}

function* products(amounts: readonly number[], figures: readonly NumberFigure[]): Generator<number> {
  const values = figures.flatMap(({ readings }) => readings.slice(0, 1).map(({ value }) => value))
  const counts = new Set(values.filter((value) => Number.isInteger(value) && value > 1 && value <= MAX_COUNT))
  for (const amount of amounts) for (const count of counts) yield amount * count
}

const isNear = ({ value, step }: Reading, result: number): boolean =>
  Math.abs(Math.abs(value) - Math.abs(result)) <= step / 2 + 1e-9 * Math.abs(result)

/** The mean of all values is the usual one. */
function* means(values: readonly number[]): Generator<number> {
  if (values.length > 1) yield values.reduce((sum, value) => sum + value, 0) / values.length
  for (const [one, other] of pairs(values)) yield (one + other) / 2
}

/** Figures of the passage that the answer does not repeat: few of the same unit, or a result that is hardly chance. */
function unrepeatedOperands(claim: NumberFigure, ofSources: readonly NumberFigure[]): number[] {
  const given = valuesOf(ofSources, claim)
  const isTelling = claim.significant >= TELLING_DIGITS || (claim.readings[0]?.value ?? 0) >= TELLING_VALUE
  if (isTelling && given.length <= MAX_SOURCE_NUMBERS) return given
  const ofUnit = ofSources.filter(({ unit }) => unit !== undefined && unit.family === claim.unit?.family)
  const few = valuesOf(ofUnit, claim)
  return few.length <= MAX_TOLD ? few : []
}

/** @param sentence folded; it says that something is computed, else nothing is tried */
export function isComputed(claim: NumberFigure, sentence: string, { ofAnswer, ofSources }: Operands): boolean {
  const own = valuesOf(ofAnswer, claim).slice(0, MAX_OWN)
  const given = valuesOf(ofSources, claim)
  const isAny = (results: Iterable<number>) => {
    for (const result of results) if (claim.readings.some((reading) => isNear(reading, result))) return true
    return false
  }
  const isDifferent = DIFFERENCE.test(sentence)
  // One operand is in the answer, the other in the passage alone.
  if (given.length <= FEW) {
    for (const one of own) {
      if (isDifferent && isAny(given.map((other) => one - other))) return true
      if (SUM.test(sentence) && isAny(given.map((other) => one + other))) return true
    }
  }
  const ofUnit = claim.unit ? ofSources.filter(({ unit }) => unit?.family === claim.unit?.family) : ofSources
  const amounts = valuesOf(ofUnit, claim)
  const mayBeProduct = PRODUCT.test(sentence) && claim.significant + Number(claim.unit !== undefined) >= 2
  if (mayBeProduct && amounts.length <= FEW && isAny(products(amounts, [...ofAnswer, ...ofSources]))) return true
  return [own, unrepeatedOperands(claim, ofSources)].some((pool) => {
    const isSmall = pool.length <= MAX_OWN
    if (SUM.test(sentence) && isAny(sums(pool, isSmall))) return true
    if (isDifferent) for (const [one, other] of pairs(pool)) if (isAny([one - other])) return true
    if (MEAN.test(sentence) && isSmall && isAny(means(pool))) return true
    const isRate = RATE.test(sentence) && pool.length <= FEW && !DURATIONS.has(claim.unit?.family ?? '')
    if (isRate && isAny(pool.flatMap((value) => PERIODS.flatMap((times) => [value * times, value / times]))))
      return true
    const isRatio = claim.unit?.family === 'percent' || RATIO.test(sentence) || isDifferent
    const isTold = claim.significant >= 2 || (pool === own && pool.length <= MAX_TOLD)
    return isRatio && isTold && pool.length <= MAX_SOURCE_RATIOS && isAny(ratios(pool))
  })
}
