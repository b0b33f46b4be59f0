/** Reads which tables the SQL in the strings of `server/` writes and reads, tests left out; the tables are those of the migrations. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'

export interface Access {
  readonly table: string
  readonly kind: 'write' | 'read'
  /** Path below `server/`. */
  readonly file: string
  readonly line: number
}

/** Tables of the schema `public` are named without it. */
const plainName = (name: string): string => name.replaceAll('"', '').replace(/^public\./, '')

function createdTables(server: string): Set<string> {
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

/** @param server the folder `server/` of a checkout. */
export function readAccesses(server: string): Access[] {
  const tables = createdTables(server)
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
