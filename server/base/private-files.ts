/** Files and folders in places where other users of the machine may write. */
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from './errors.ts'
import { shellCommand } from './shell-command.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Why a file or folder cannot be trusted. */
export class NotPrivateError extends Error {
  override readonly name = 'NotPrivateError'
  /** Sets it right, if the file is the person's own. */
  readonly command: string | undefined

  constructor(message: string, { command, ...options }: ErrorOptions & { command?: string } = {}) {
    super(message, options)
    this.command = command
  }
}

/** Undefined on Windows, which has no such owners. */
const ownUid = (): number | undefined => process.getuid?.()

/** Gives a file or folder, and what is in it, to this user. */
export const takeCommand = (file: string): string =>
  shellCommand('sudo', 'chown', '-R', `${process.getuid?.()}:${process.getgid?.()}`, file)

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

/** Where the mode cannot be changed, as of a secret that is mounted, a group of the owner's choice may read. */
async function closeToOthers(handle: FileHandle, file: string): Promise<void> {
  const { mode } = await handle.stat()
  if ((mode & 0o077) === 0) return
  try {
    await handle.chmod(0o600)
  } catch (error) {
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'EROFS') throw error
    if ((mode & 0o037) === 0) return
    const octal = (mode & 0o777).toString(8)
    throw new NotPrivateError(
      `others may use "${file}", whose mode is ${octal} and cannot be changed by this user: make it 600 or 640`,
      { cause: error },
    )
  }
}

async function openTarget(file: string): Promise<FileHandle> {
  try {
    return await open(await realpath(file), constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    // The file itself exists: without this, its owner would find a new one in its place.
    if (codeOf(error) === 'ENOENT') throw new NotPrivateError(`"${file}" is a link to nothing`, { cause: error })
    if (codeOf(error) === 'EACCES') {
      const command = (await lstat(file)).uid === ownUid() ? shellCommand('chmod', '600', file) : takeCommand(file)
      throw new NotPrivateError(`this user may not read "${file}"`, { cause: error, command })
    }
    throw error
  }
}

/**
 * Reads a file that only its owner may read, and closes it to others if they may. It may be a link, as mounted secrets are.
 *
 * @throws NotPrivateError unless this user, root or the owner of the folder owns it, and a link to it
 */
export async function readPrivateFile(file: string): Promise<string> {
  const own = ownUid()
  const { uid: folderOwner } = await stat(path.dirname(file))
  const requireKnownOwner = ({ uid }: { readonly uid: number }): void => {
    if (own !== undefined && ![own, 0, folderOwner].includes(uid))
      throw new NotPrivateError(`"${file}" belongs to another user`, { command: takeCommand(file) })
  }
  requireKnownOwner(await lstat(file))
  const handle = await openTarget(file)
  try {
    requireKnownOwner(await handle.stat())
    if (own !== undefined) await closeToOthers(handle, file)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
