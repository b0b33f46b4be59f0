/** Files of a folder that was dropped or chosen, with everything below it. */

/** The drop zone gives dropped files a path, `/Contracts/2024/lease.pdf`; the browser gives one to files of a chosen folder. */
const pathOf = (file: File & { readonly path?: string }): string => file.path ?? file.webkitRelativePath

/** The path of its folder, without a slash at either end; empty for a file by itself. */
export function folderOf(file: File): string {
  const folders = pathOf(file).split('/').slice(0, -1)
  return folders.filter((name) => name !== '' && name !== '.').join('/')
}

const HIDDEN_NAMES = ['thumbs.db', 'desktop.ini']

/** Whether a system keeps the file in a folder for itself. */
export const isHidden = (file: File): boolean =>
  folderOf(file) !== '' &&
  (HIDDEN_NAMES.includes(file.name.toLowerCase()) ||
    pathOf(file)
      .split('/')
      .some((name) => /^\.[^./]/.test(name)))
