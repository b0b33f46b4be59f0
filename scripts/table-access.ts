/** Checks that each table is written and read only by the folders that `table-owners.ts` names; `--print` lists what it finds. */
import path from 'node:path'
import { type Access, readAccesses } from './sql-accesses.ts'
import { EXCEPTIONS, TABLE_OWNERS } from './table-owners.ts'

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

const found = readAccesses(path.join(import.meta.dirname, '../server'))
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
