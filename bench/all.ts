/**
 * Runs every noted benchmark in its own process, prints each figure next to its goal and last noted value, and marks
 * missed goals and losses above a tenth. `npm run bench -- all [name …]`. Longest are `growth` and `search`, some
 * minutes for each part or library.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { NOTED_BENCHMARKS, type NotedBenchmark, type NotedFigure } from './noted-figures.ts'

const DATA_FOLDER = process.env['ALCOVE_TEST_DATA'] ?? path.resolve(import.meta.dirname, '../../shared/data/dev')
/** Figures vary from run to run by about this share. */
const NOISE = 0.1

interface Row {
  readonly figure: string
  readonly measured: number | string
  readonly goal: number | null
  readonly noted: number | null
  readonly remark: string
}

function readValue(result: unknown, valuePath: string): number | undefined {
  let value = result
  for (const key of valuePath.split('.'))
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
  return typeof value === 'number' ? value : undefined
}

async function runBenchmark({ name, args }: NotedBenchmark): Promise<unknown> {
  const given = args.map((arg) => arg.replace('{data}', DATA_FOLDER))
  const main = path.join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [main, name, ...given], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  const line = output.trim().split('\n').at(-1) ?? ''
  return child.exitCode === 0 ? JSON.parse(line) : undefined
}

function remarkOn({ goal, better, noted }: NotedFigure, measured: number): string {
  const sign = better === 'lower' ? 1 : -1
  if (goal !== null && sign * (measured - goal) > 0) return 'misses its goal'
  return sign * (measured - noted) > NOISE * Math.abs(noted) ? 'worse than noted' : ''
}

function describe(benchmark: NotedBenchmark, result: unknown): Row[] {
  return benchmark.figures.map((figure) => {
    const { title, goal, noted } = figure
    const measured = readValue(result, figure.value)
    const row = { figure: `${benchmark.name}: ${title}`, goal, noted }
    return measured === undefined
      ? { ...row, measured: 'none', remark: 'did not run' }
      : { ...row, measured, remark: remarkOn(figure, measured) }
  })
}

export async function run(names: string[]): Promise<Record<string, unknown>> {
  const chosen = NOTED_BENCHMARKS.filter(({ name }) => names.length === 0 || names.includes(name))
  const hasData = existsSync(DATA_FOLDER)
  const runnable = chosen.filter(({ args }) => hasData || !args.some((arg) => arg.includes('{data}')))
  if (runnable.length < chosen.length) console.error(`No test data at ${DATA_FOLDER}: figures over it are left out.`)
  const rows: Row[] = []
  for (const benchmark of runnable) rows.push(...describe(benchmark, await runBenchmark(benchmark)))
  console.table(rows)
  return { measured: rows.length, remarked: rows.filter(({ remark }) => remark !== '').map(({ figure }) => figure) }
}
