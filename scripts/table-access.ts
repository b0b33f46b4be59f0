/**
 * Checks that each table is written and read only by the folders that `table-owners.ts` names; `--print` lists what it finds.
 * It reads the SQL in the strings of `server/`, tests left out; the tables are those that the migrations create.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { EXCEPTIONS, TABLE_OWNERS } from './table-owners.ts'

interface Access {
  readonly table: string
  readonly kind: 'write' | 'read'
  readonly file: string
  readonly line: number
}

const server = path.join(import.meta.dirname, '../server')
/** Tables of the schema `public` are named without it. */
const plainName = (name: string): string => name.replaceAll('"', '').replace(/^public\./, '')

function createdTables(): Set<string> {
  const tables = new Set<string>()
  for (const file of globSync('database/migrations/**/*.sql', { cwd: server }).toSorted()) {
    const sql = readFileSync(path.join(server, file), 'utf8').replaceAll(/--.*$/gm, '')
    for (const [, name = ''] of sql.matchAll(/create (?:unlogged )?table (?:if not exists )?([\w."]+)/g))
      tables.add(plainName(name))
  }
  return tables
}

const NAME = String.raw`((?:[a-z_]+\.)?[a-z_]+)`
const WRITE = new RegExp(
  String.raw`\b(?:insert into|delete from|update(?: only)?|truncate(?: table)?|merge into) ${NAME}`,
  'g',
)
const READ = new RegExp(String.raw`(?<!delete )\b(?:from|join|using)(?: only| lateral)? ${NAME}`, 'g')
/** Distinguishes SQL from a sentence that says "from documents". */
const IS_SQL =
  /\b(?:select|insert into|delete from|update [\w.]+(?: \w+)? set|returning|exists) ?\b|\bjoin [\w.]+(?: \w+)? (?:on|using)\b/

function* accessesIn(sql: string, tables: ReadonlySet<string>): Generator<Pick<Access, 'table' | 'kind'>> {
  const text = sql.replaceAll(/\s+/g, ' ')
  if (!IS_SQL.test(text)) return
  const isShadowed = (name: string) =>
    new RegExp(String.raw`\b${name}(?: \([^)]*\))? as (?:not materialized |materialized )?\(`).test(text)
  for (const [kind, pattern] of [
    ['write', WRITE],
    ['read', READ],
  ] as const)
    for (const [, name = ''] of text.matchAll(pattern)) {
      const table = plainName(name)
      if (tables.has(table) && !isShadowed(table)) yield { table, kind }
    }
}

/** The text of a string or template; what is inserted into a template is left out. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' ? ')
}

function accesses(): Access[] {
  const tables = createdTables()
  const found: Access[] = []
  for (const file of globSync('**/*.ts', { cwd: server }).toSorted()) {
    if (/\.(?:db\.)?test\.ts$/.test(file)) continue
    const source = ts.createSourceFile(file, readFileSync(path.join(server, file), 'utf8'), ts.ScriptTarget.Latest)
    const visit = (node: ts.Node): void => {
      const sql = textOf(node)
      if (sql !== undefined) {
        const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
        for (const access of accessesIn(sql, tables)) found.push({ ...access, file, line })
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return found
}

const isIn = (file: string, folders: readonly string[]): boolean =>
  folders.some((folder) => file.startsWith(`${folder}/`) || file === folder)

function fault({ table, kind, file, line }: Access): string | undefined {
  const owner = TABLE_OWNERS[table]
  if (!owner) return `server/${file}:${line} uses ${table}, which scripts/table-owners.ts does not name.`
  const exceptions = EXCEPTIONS.filter((exception) => exception.table === table).map(({ folder }) => folder)
  const writers = [...(owner.writes === null ? [] : [owner.writes]), ...exceptions]
  if (isIn(file, kind === 'read' ? [...writers, ...(owner.reads ?? [])] : writers)) return undefined
  const whose = owner.writes === null ? 'no folder writes' : `belongs to server/${owner.writes}`
  return `server/${file}:${line} ${kind}s ${table}, which ${whose}. Call a function there, or name this folder in scripts/table-owners.ts.`
}

/** Entries of the list that no statement needs any more. */
function staleEntries(found: readonly Access[]): string[] {
  const isUsed = (table: string, folder: string, kind?: 'write') =>
    found.some(
      (access) => access.table === table && isIn(access.file, [folder]) && (kind ?? access.kind) === access.kind,
    )
  const entries = Object.entries(TABLE_OWNERS).flatMap(([table, { writes, reads = [] }]) =>
    [...(writes === null ? [] : [writes]), ...reads].map((folder) => ({
      table,
      folder,
      isNeeded: isUsed(table, folder),
    })),
  )
  const exceptions = EXCEPTIONS.map(({ table, folder }) => ({
    table,
    folder,
    isNeeded: isUsed(table, folder, 'write'),
  }))
  return [...entries, ...exceptions]
    .filter(({ isNeeded }) => !isNeeded)
    .map(
      ({ table, folder }) =>
        `scripts/table-owners.ts names server/${folder} for ${table}, but no statement there needs it.`,
    )
}

const found = accesses()
if (process.argv.includes('--print')) {
  for (const [table, ofTable] of [...Map.groupBy(found, ({ table: name }) => name)].toSorted(([a], [b]) =>
    a.localeCompare(b),
  )) {
    console.log(table)
    for (const kind of ['write', 'read'] as const) {
      const files = new Set(ofTable.filter((access) => access.kind === kind).map(({ file }) => file))
      console.log(`  ${kind}s: ${[...files].join(' ')}`)
    }
  }
} else {
  const all = new Set([...found.flatMap((access) => fault(access) ?? []), ...staleEntries(found)])
  for (const message of all) console.error(message)
  if (all.size > 0) process.exit(1)
  console.log(`${Object.keys(TABLE_OWNERS).length} tables, each used by the folders that may.`)
}
