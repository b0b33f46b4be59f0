/** Describes charts and diagrams of a Word document as paragraphs and tables. */
import { writeParagraph } from './drawings.ts'

const LINE = /<a:p(?:\s[^>]*)?>([\s\S]*?)<\/a:p>/g
const WORDS = /<a:t(?:\s[^>]*)?>([^<]*)<\/a:t>/g
const TITLE = /<c:title(?:\s[^>]*)?>([\s\S]*?)<\/c:title>/g
const SERIES = /<c:ser(?:\s[^>]*)?>([\s\S]*?)<\/c:ser>/g
const POINT = /<c:pt\s[^>]*?idx="(\d+)"[^>]*>[\s\S]*?<c:v>([^<]*)<\/c:v>/g
const DIAGRAM_TEXT = /<dgm:t(?:\s[^>]*)?>([\s\S]*?)<\/dgm:t>/g
/** A chart with more points shows measurements, too many to read one by one. */
const MAX_POINTS = 400
const MAX_SERIES = 40
const DIGITS = 12
const SHARE_DECIMALS = 2
const DAY_MS = 86_400_000
const DAYS_TO_1970 = 25_569

const writeParagraphs = (xml: string): string =>
  [...xml.matchAll(LINE)]
    .map(([, line = '']) => writeParagraph([...line.matchAll(WORDS)].map(([, words = '']) => words).join('')))
    .join('')

/** Titles and values of a chart, as a table (ECMA-376 part 1, 21.2), or the words of a diagram (21.4). */
export function describeGraphic(xml: string): string {
  const titles = [...xml.matchAll(TITLE)].map(([, title = '']) => writeParagraphs(title))
  const labels = [...xml.matchAll(DIAGRAM_TEXT)].map(([, label = '']) => writeParagraphs(label))
  return [...titles, writeTable(xml), ...labels].join('')
}

interface Series {
  readonly name: string
  readonly categories: ReadonlyMap<number, string>
  readonly values: ReadonlyMap<number, string>
}

function writeTable(xml: string): string {
  const series = [...xml.matchAll(SERIES)].slice(0, MAX_SERIES).map(([, given = '']) => readSeries(given))
  const places = [...new Set(series.flatMap(({ values }) => [...values.keys()]))]
    .sort((one, other) => one - other)
    .slice(0, MAX_POINTS)
  if (places.length === 0) return ''
  const rows = places.map((place) => [
    series.map(({ categories }) => categories.get(place)).find((category) => category !== undefined) ?? '',
    ...series.map(({ values }) => values.get(place) ?? ''),
  ])
  const lines = [['', ...series.map(({ name }) => name)], ...rows].map(
    (cells) => `<w:tr>${cells.map((cell) => `<w:tc>${writeParagraph(cell)}</w:tc>`).join('')}</w:tr>`,
  )
  return `<w:tbl>${lines.join('')}</w:tbl>`
}

function readSeries(xml: string): Series {
  const part = (names: string) => new RegExp(`<c:(${names})>([\\s\\S]*?)</c:\\1>`).exec(xml)?.[2] ?? ''
  // Grouped categories list the innermost level first.
  const categories = part('cat|xVal')
  const level = /<c:lvl>([\s\S]*?)<\/c:lvl>/.exec(categories)?.[1] ?? categories
  const name = /<c:v>([^<]*)<\/c:v>/.exec(part('tx'))?.[1] ?? ''
  return { name, categories: readPoints(level), values: readPoints(part('val|yVal')) }
}

function readPoints(xml: string): Map<number, string> {
  const isNumeric = xml.includes('<c:numCache>') || xml.includes('<c:numLit>')
  const format = /<c:formatCode>([^<]*)<\/c:formatCode>/.exec(xml)?.[1] ?? ''
  return new Map(
    [...xml.matchAll(POINT)].map(([, place, value = '']) => [
      Number(place),
      isNumeric ? formatValue(value, format) : value,
    ]),
  )
}

/** Rounds away floating-point noise; writes dates and percentages as the chart does. */
function formatValue(value: string, format: string): string {
  const number = Number(value)
  if (value.trim() === '' || !Number.isFinite(number)) return value
  const codes = format.replaceAll(/&quot;.*?&quot;|"[^"]*"|\[[^\]]*\]|\\./g, '')
  if (/[dy]/i.test(codes) && Math.abs(number) < 1_000_000 && !/general/i.test(codes))
    return new Date((number - DAYS_TO_1970) * DAY_MS).toISOString().slice(0, 10)
  return codes.includes('%')
    ? `${Number((number * 100).toFixed(SHARE_DECIMALS))}%`
    : `${Number(number.toPrecision(DIGITS))}`
}
