/**
 * Prints the figures of the product code: sizes of files and functions, share of comment lines, import cycles, and tables
 * that more than one folder writes.
 *
 *     npm run figures -- [checkout] [folder …]
 *
 * A checkout other than this one gives the figures of an earlier version: `git worktree add <checkout> <commit>`.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { readAccesses } from './sql-accesses.ts'

const LONG_FUNCTION_LINES = 80
const PRODUCT_FOLDERS = ['contract', 'server', 'web']

interface FunctionSize {
  readonly file: string
  readonly name: string
  readonly lines: number
}

interface FileFigures {
  readonly file: string
  readonly lines: number
  readonly commentLines: number
  readonly functions: readonly FunctionSize[]
  readonly imports: readonly string[]
}

const isTest = (file: string): boolean => /\.(test|spec)\.tsx?$/.test(file)

function productFiles(root: string, folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }))
    .filter((file) => !isTest(file))
    .sort()
}

/** Lines that hold a comment and nothing else. */
function countCommentLines(text: string, source: ts.SourceFile): number {
  const lines = new Set<number>()
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const seen = new Set<number>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      if (seen.has(range.pos)) continue
      seen.add(range.pos)
      for (let line = lineOf(range.pos); line <= lineOf(range.end); line++) lines.add(line)
    }
    node.getChildren(source).forEach(visit)
  }
  visit(source)
  return lines.size
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name && ts.isIdentifier(node.name)) return node.name.text
  const { parent } = node
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) return parent.name.text
  if (ts.isPropertyAssignment(parent)) return parent.name.getText()
  return '(anonymous)'
}

function listFunctions(file: string, source: ts.SourceFile): FunctionSize[] {
  const found: FunctionSize[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line
      found.push({ file, name: nameOf(node), lines: last - first + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function listImports(file: string, source: ts.SourceFile): string[] {
  return source.statements
    .filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .flatMap(({ moduleSpecifier }) =>
      moduleSpecifier && ts.isStringLiteral(moduleSpecifier) ? [moduleSpecifier.text] : [],
    )
    .flatMap((specifier) => {
      if (specifier.startsWith('#')) return [specifier.slice(1)]
      return specifier.startsWith('.') ? [path.posix.join(path.posix.dirname(file), specifier)] : []
    })
}

function readFile(root: string, file: string): FileFigures {
  const text = readFileSync(path.join(root, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  return {
    file,
    lines: text.split('\n').length - 1,
    commentLines: countCommentLines(text, source),
    functions: listFunctions(file, source),
    imports: listImports(file, source),
  }
}

/** Strongly connected components of more than one file, by Tarjan's algorithm. */
function findCycles(files: readonly FileFigures[]): string[][] {
  const imports = new Map(files.map(({ file, imports }) => [file, imports]))
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): number => {
    const own = index.size
    index.set(file, own)
    stack.push(file)
    let lowest = own
    for (const imported of imports.get(file) ?? []) {
      if (!imports.has(imported)) continue
      if (!index.has(imported)) lowest = Math.min(lowest, visit(imported))
      else if (stack.includes(imported)) lowest = Math.min(lowest, index.get(imported) ?? own)
    }
    low.set(file, lowest)
    if (lowest === own) {
      const component = stack.splice(stack.indexOf(file))
      if (component.length > 1) cycles.push(component)
    }
    return lowest
  }
  for (const { file } of files) if (!index.has(file)) visit(file)
  return cycles
}

/** Tables to the folders of `server/` that write them, where there is more than one. */
function findSharedTables(root: string): [table: string, folders: string[]][] {
  const writes = readAccesses(path.join(root, 'server')).filter(({ kind }) => kind === 'write')
  return [...Map.groupBy(writes, ({ table }) => table)]
    .map(([table, accesses]): [string, string[]] => [
      table,
      [...new Set(accesses.map(({ file }) => file.split('/')[0] ?? file))],
    ])
    .filter(([, folders]) => folders.length > 1)
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

const spread = (values: readonly number[]): string =>
  `median ${quantile(values, 0.5)}, p95 ${quantile(values, 0.95)}, longest ${Math.max(...values)}`

const [given = '.', ...folders] = process.argv.slice(2)
const root = path.resolve(given)
const files = productFiles(root, folders.length > 0 ? folders : PRODUCT_FOLDERS).map((file) => readFile(root, file))
const functions = files.flatMap((file) => file.functions)
const total = (count: (file: FileFigures) => number) => files.reduce((sum, file) => sum + count(file), 0)
const share = (100 * total((file) => file.commentLines)) / total((file) => file.lines)
const longFunctions = functions.filter(({ lines }) => lines > LONG_FUNCTION_LINES).sort((a, b) => b.lines - a.lines)
const cycles = findCycles(files)

console.log(`files      ${files.length}: ${spread(files.map(({ lines }) => lines))} lines`)
console.log(`functions  ${functions.length}: ${spread(functions.map(({ lines }) => lines))} lines`)
console.log(`comments   ${share.toFixed(1)} % of all lines`)
console.log(`cycles     ${cycles.length}${cycles.map((cycle) => `\n  ${cycle.join(' -> ')}`).join('')}`)
const sharedTables = findSharedTables(root)
console.log(`tables with more than one writer: ${sharedTables.length}`)
for (const [table, writers] of sharedTables) console.log(`  ${table}: ${writers.join(', ')}`)
console.log(`functions above ${LONG_FUNCTION_LINES} lines: ${longFunctions.length}`)
for (const { file, name, lines } of longFunctions) console.log(`  ${lines}  ${file}  ${name}`)
