import { describe, expect, test } from 'vitest'

import { pastedFiles } from './pasted-files.ts'

function clipboard(types: string[], fileCount: number) {
  return { types, files: { length: fileCount } }
}

describe('pastedFiles', () => {
  test('takes a screenshot, a copied file and a picture copied in a browser', () => {
    expect(pastedFiles(clipboard(['Files'], 1))).toHaveLength(1)
    expect(pastedFiles(clipboard(['text/plain', 'Files'], 2))).toHaveLength(2)
    expect(pastedFiles(clipboard(['text/html', 'Files'], 1))).toHaveLength(1)
  })

  test('leaves text alone, also when its program added a picture of it', () => {
    expect(pastedFiles(clipboard(['text/plain'], 0))).toBeNull()
    expect(pastedFiles(clipboard(['text/plain', 'text/html', 'Files'], 1))).toBeNull()
    expect(pastedFiles(null)).toBeNull()
  })
})
