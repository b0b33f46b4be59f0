import { useState, type JSX } from 'react'
import styles from './daily-chart.module.css'
import { SelectField } from './select-field.tsx'

export interface Measure<Row> {
  readonly label: string
  readonly read: (row: Row) => number
  readonly format: (value: number) => string
}

type DailyChartProps<Row> = {
  label: string
  /** Every day, the oldest first. */
  rows: readonly (Row & { day: string })[]
  measures: readonly Measure<Row>[]
}

const HEIGHT = 100
const BAR_SHARE = 0.7

const dateFormat = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const formatDay = (day: string): string => dateFormat.format(new Date(`${day}T00:00:00Z`))

/** Bars of one measure by day, which can be read as a table of all measures. */
export function DailyChart<Row>({ label, rows, measures }: DailyChartProps<Row>): JSX.Element | null {
  const [chosen, setChosen] = useState('0')
  const measure = measures[Number(chosen)] ?? measures[0]
  if (measure === undefined) return null
  const most = Math.max(1, ...rows.map((row) => measure.read(row)))
  const total = rows.reduce((sum, row) => sum + measure.read(row), 0)
  const summary = `${label}: ${measure.label} by day, at most ${measure.format(most)} a day`
  return (
    <figure className={styles.figure}>
      <SelectField
        label="Show"
        value={chosen}
        options={measures.map((one, index) => ({ value: String(index), label: one.label }))}
        onChange={setChosen}
      />
      <svg
        className={styles.plot}
        viewBox={`0 0 ${rows.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={total === 0 ? `${label}: no ${measure.label.toLowerCase()} yet` : summary}
      >
        {rows.map((row, index) => {
          const value = measure.read(row)
          const height = (HEIGHT * value) / most
          return (
            <rect
              key={row.day}
              className={styles.bar}
              x={index + (1 - BAR_SHARE) / 2}
              y={HEIGHT - height}
              width={BAR_SHARE}
              height={height}
            >
              <title>{`${formatDay(row.day)}: ${measure.format(value)}`}</title>
            </rect>
          )
        })}
        <line className={styles.base} x1={0} x2={rows.length} y1={HEIGHT} y2={HEIGHT} />
      </svg>
      <figcaption className={styles.ends}>
        <span>{formatDay(rows[0]?.day ?? '')}</span>
        <span>at most {measure.format(total === 0 ? 0 : most)}</span>
        <span>{formatDay(rows.at(-1)?.day ?? '')}</span>
      </figcaption>
      <details className={styles.details}>
        <summary>As a table</summary>
        {/* Scrolls by keyboard too. */}
        <div className={styles.scroller} tabIndex={0} role="group" aria-label={`${label} as a table`}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {measures.map((one) => (
                  <th key={one.label} scope="col">
                    {one.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.toReversed().map((row) => (
                <tr key={row.day}>
                  <th scope="row">{formatDay(row.day)}</th>
                  {measures.map((one) => (
                    <td key={one.label}>{one.format(one.read(row))}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}
