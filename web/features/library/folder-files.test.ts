import { expect, test } from 'vitest'
import { folderOf, isHidden } from './folder-files.ts'

function fileAt(path: string, key: 'path' | 'webkitRelativePath'): File {
  const file = new File([''], path.split('/').at(-1) ?? '')
  return Object.defineProperties(file, {
    webkitRelativePath: { value: '', configurable: true },
    [key]: { value: path },
  })
}

test.each([
  ['/Contracts/2024/lease.pdf', 'path', 'Contracts/2024'],
  ['./lease.pdf', 'path', ''],
  ['lease.pdf', 'path', ''],
  ['Contracts/lease.pdf', 'webkitRelativePath', 'Contracts'],
  ['', 'webkitRelativePath', ''],
] as const)('the folder of %s in %s is "%s"', (path, key, folder) => {
  expect(folderOf(fileAt(path, key))).toBe(folder)
})

test.each([
  ['/Contracts/.git/notes.txt', true],
  ['/Contracts/.hidden.txt', true],
  ['/Contracts/Thumbs.db', true],
  ['/Contracts/a..txt', false],
  ['/Contracts/... and more.txt', false],
  ['./.profile.txt', false],
])('%s is hidden: %s', (path, hidden) => {
  expect(isHidden(fileAt(path, 'path'))).toBe(hidden)
})
