/** Migrations of this version, read once: a running server answers for the files that it started with. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { AppError } from '#server/base/errors.ts'

/** `platform`: the schema that a Supabase project provides itself. `product`: Alcove's tables. */
export type Folder = 'platform' | 'product'

export interface Migration {
  readonly folder: Folder
  readonly name: string
  readonly checksum: string
}

const directoryOf = (folder: Folder): URL => new URL(`./migrations/${folder}/`, import.meta.url)

async function readFolder(folder: Folder): Promise<Migration[]> {
  const directory = directoryOf(folder)
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const name of names) {
    const sql = await readFile(new URL(name, directory), 'utf8')
    migrations.push({ folder, name, checksum: checksumOf(sql) })
  }
  return migrations
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex')
}

async function readAll(): Promise<readonly Migration[]> {
  return [...(await readFolder('platform')), ...(await readFolder('product'))]
}

let reading: ReturnType<typeof readAll> | undefined

/** @returns all migrations in their order, as of the first call */
export function readMigrations(): Promise<readonly Migration[]> {
  reading ??= readAll()
  return reading
}

/** @throws AppError `startup` where the file was replaced since `readMigrations` */
export async function readSql({ folder, name, checksum }: Migration): Promise<string> {
  const sql = await readFile(new URL(name, directoryOf(folder)), 'utf8')
  if (checksumOf(sql) === checksum) return sql
  throw new AppError('startup', `The migration ${folder}/${name} was replaced while the server started. Start again.`)
}
