/**
 * Checks docs/specification.md, the table that says which tests show which clause of the product's specification: every
 * clause names a test, every named test exists, no id stands twice, and no section is left out.
 */
import { readFile } from 'node:fs/promises'
import ts from 'typescript'

const PAGE = 'docs/specification.md'

const SECTIONS = [
  '1', '2.1', '2.2', '2.3', '2.4', '2.5', '2.6', '2.7', '2.8', '2.9', '2.10', '2.11', '2.12', '3', '4.1', '4.2', '4.3',
  '4.4', '4.5', '4.6', '4.7', '4.8', '4.9', '5', '6', '7', '8', '9',
] // prettier-ignore

export interface Clause {
  /** Number of the section, a hyphen, and the place in it. */
  readonly id: string
  readonly tests: readonly { readonly file: string; readonly title: string }[]
}

const ROW = /^\|\s*(?<id>[\d.]+-\d+)\s*\|(?<words>.*)\|(?<shown>[^|]*)\|\s*$/
const SHOWN_BY = /`(?<file>[^`›]+) › (?<title>[^`]+)`/g

/** The rows of the table, in their order. A row without a test has an empty list. */
export function readClauses(markdown: string): Clause[] {
  return markdown.split('\n').flatMap((line) => {
    const row = ROW.exec(line)?.groups
    if (row === undefined) return []
    const tests = [...(row['shown'] ?? '').matchAll(SHOWN_BY)].map(({ groups }) => ({
      file: groups?.['file'] ?? '',
      title: groups?.['title'] ?? '',
    }))
    return [{ id: row['id'] ?? '', tests }]
  })
}

/** The name that a chain of calls such as `test.each([...])(…)` begins with. */
function rootName(expression: ts.Expression): string | null {
  if (ts.isIdentifier(expression)) return expression.text
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression))
    return rootName(expression.expression)
  return null
}

/** Titles of a test file: whole ones, and the beginnings of those that are composed at run time. */
export interface Titles {
  readonly whole: ReadonlySet<string>
  readonly beginnings: readonly string[]
}

/** Reads the titles of `test` and `it` in the source of a test file; one that is skipped for good is none. */
export function readTitles(source: string): Titles {
  const whole = new Set<string>()
  const beginnings: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ['test', 'it'].includes(rootName(node.expression) ?? '')) {
      const [title] = node.arguments
      const isSkipped = /\.(skip|todo)$/.test(node.expression.getText())
      if (title !== undefined && !isSkipped) {
        if (ts.isStringLiteralLike(title)) whole.add(title.text)
        else if (ts.isTemplateExpression(title) && title.head.text !== '') beginnings.push(title.head.text)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('test.tsx', source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX))
  return { whole, beginnings }
}

const holds = ({ whole, beginnings }: Titles, title: string): boolean =>
  whole.has(title) || beginnings.some((beginning) => title.startsWith(beginning))

/**
 * Faults of a table, one sentence each.
 * @param titlesOf the titles of a test file, null where there is no such file.
 */
export function findFaults(
  clauses: readonly Clause[],
  titlesOf: (file: string) => Titles | null,
  sections: readonly string[] = SECTIONS,
): string[] {
  const ids = clauses.map(({ id }) => id)
  const sectionOf = (id: string): string => id.slice(0, id.indexOf('-'))
  const faults = [
    ...sections
      .filter((section) => !ids.some((id) => sectionOf(id) === section))
      .map((s) => `Section ${s} is missing.`),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} stands there twice.`),
    ...ids.filter((id) => !sections.includes(sectionOf(id))).map((id) => `${id} belongs to no section.`),
  ]
  for (const { id, tests } of clauses) {
    if (tests.length === 0) faults.push(`${id} is shown by no test.`)
    for (const { file, title } of tests) {
      const titles = titlesOf(file)
      if (titles === null) faults.push(`${id} names ${file}, which does not exist.`)
      else if (!holds(titles, title)) faults.push(`${id} names “${title}”, which is no test of ${file}.`)
    }
  }
  return faults
}

async function check(): Promise<void> {
  const clauses = readClauses(await readFile(PAGE, 'utf8'))
  const titles = new Map<string, Titles>()
  for (const file of new Set(clauses.flatMap(({ tests }) => tests.map((test) => test.file)))) {
    const source = await readFile(file, 'utf8').catch(() => null)
    if (source !== null) titles.set(file, readTitles(source))
  }
  const faults = findFaults(clauses, (file) => titles.get(file) ?? null)
  for (const fault of faults) console.error(`${PAGE}: ${fault}`)
  if (faults.length > 0) process.exitCode = 1
  else console.log(`${PAGE}: ${clauses.length} clauses, each shown by a test that exists.`)
}

if (import.meta.main) await check()
