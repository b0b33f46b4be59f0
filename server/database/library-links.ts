/** Names under which the programs of PostgreSQL look for its shared libraries. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { codeOf } from '#server/base/errors.ts'

/** A list that the npm package brings, since it cannot hold links; paths begin at the folder of the package. */
const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }))

async function readLinks(packageFolder: string): Promise<z.output<typeof linksSchema>> {
  try {
    return linksSchema.parse(JSON.parse(await readFile(path.join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

const REFUSED = new Set(['EACCES', 'EPERM', 'EROFS'])

/**
 * Makes the links that the install script of the package makes, where npm has not run it: npm 12 runs none unasked.
 *
 * @param ownFolder takes them where this user may not write to the package
 * @returns LD_LIBRARY_PATH of its programs, if they are there
 */
export async function linkLibraries(packageFolder: string, ownFolder: string): Promise<string | undefined> {
  const links = (await readLinks(packageFolder)).map(({ source, target }) => ({
    source: path.join(packageFolder, source),
    target: path.join(packageFolder, target),
  }))
  const missing = links.filter(({ target }) => !existsSync(target))
  try {
    for (const { source, target } of missing) {
      await symlink(path.relative(path.dirname(target), source), target).catch((error: unknown) => {
        // Another server that starts just now may have made it.
        if (codeOf(error) !== 'EEXIST') throw error
      })
    }
    return undefined
  } catch (error) {
    if (!REFUSED.has(codeOf(error) ?? '')) throw error
  }
  // Links of an earlier version of the package would name its libraries.
  await rm(ownFolder, { recursive: true, force: true })
  await mkdir(ownFolder)
  for (const { source, target } of missing) await symlink(source, path.join(ownFolder, path.basename(target)))
  // A library that was found by such a link looks for others next to the link.
  return [ownFolder, path.join(packageFolder, 'native', 'lib')].join(':')
}
