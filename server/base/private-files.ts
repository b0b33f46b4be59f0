/** Files and folders in places where other users of the machine may write. */
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from './errors.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Why a file or folder cannot be trusted. */
export class NotPrivateError extends Error {
  override readonly name = 'NotPrivateError'
}

/** Undefined on Windows, which has no such owners. */
const ownUid = (): number | undefined => process.getuid?.()

/** Without the sticky bit, everybody who may write to a folder may also exchange what is in it. */
async function requireSafeParent(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
    throw new NotPrivateError(`everybody may exchange files in "${folder}": its sticky bit is not set`)
}

async function openFolder(folder: string): Promise<FileHandle> {
  try {
    return await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    if (codeOf(error) === 'EACCES') throw new NotPrivateError(`"${folder}" belongs to another user`, { cause: error })
    if (codeOf(error) !== 'ENOTDIR' && codeOf(error) !== 'ELOOP') throw error
    throw new NotPrivateError(`"${folder}" is a link or a file`, { cause: error })
  }
}

/**
 * Makes a folder that only `owner` may enter, or accepts one that is already so.
 *
 * @param owner who shall own it; default: this user. @throws NotPrivateError if another user made it or may enter it
 */
export async function makePrivateFolder(folder: string, owner?: Owner): Promise<void> {
  const own = ownUid()
  if (own !== undefined) await requireSafeParent(path.dirname(folder))
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  if (own === undefined) return
  const handle = await openFolder(folder)
  try {
    const { uid, mode } = await handle.stat()
    if (uid !== own && uid !== owner?.uid) throw new NotPrivateError(`"${folder}" belongs to another user`)
    if ((mode & 0o077) !== 0) throw new NotPrivateError(`others may enter "${folder}": its mode is not 700`)
    if (owner) await handle.chown(owner.uid, owner.gid)
  } finally {
    await handle.close()
  }
}

/**
 * Reads a file that only its owner may read, and closes it to others if they may.
 *
 * @throws NotPrivateError unless this user, root or the owner of the folder owns it
 */
export async function readPrivateFile(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw codeOf(error) === 'ELOOP' ? new NotPrivateError(`"${file}" is a link`, { cause: error }) : error
  })
  try {
    const own = ownUid()
    const { uid, mode } = await handle.stat()
    if (own !== undefined) {
      const { uid: folderOwner } = await stat(path.dirname(file))
      if (![own, 0, folderOwner].includes(uid)) throw new NotPrivateError(`"${file}" belongs to another user`)
      if ((mode & 0o077) !== 0) await handle.chmod(0o600)
    }
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
