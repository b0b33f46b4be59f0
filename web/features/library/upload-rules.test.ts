import { describe, expect, test } from 'vitest'

import { MAX_UPLOAD_BYTES } from '#contract/upload-limits.ts'

import { acceptedTypes, rejectionMessage, withinSizeLimit } from './upload-rules.ts'

describe('rejectionMessage', () => {
  const message = (code: string) => rejectionMessage({ code, message: 'words of the library' })

  test('names the accepted types', () => {
    expect(message('file-invalid-type')).toBe(
      'File type must be one of .pdf, .doc, .docx, .xls, .xlsx, .txt, .jpg, .jpeg, .png',
    )
  })

  test('gives sizes in bytes', () => {
    expect(message('file-too-large')).toBe('File is larger than 26214400 bytes')
    expect(message('file-too-small')).toMatch(/^File is smaller than \d+ bytes$/)
  })

  test('says that there are too many files', () => {
    expect(message('too-many-files')).toBe('Too many files')
  })

  test('keeps the words of an error that it does not know', () => {
    expect(message('something-new')).toBe('words of the library')
  })
})

describe('acceptedTypes', () => {
  test('lists both extensions of a jpeg under one media type', () => {
    expect(acceptedTypes()['image/jpeg']).toEqual(['.jpg', '.jpeg'])
    expect(acceptedTypes()['application/pdf']).toEqual(['.pdf'])
  })
})

describe('withinSizeLimit', () => {
  test('takes a file of exactly the limit and refuses one byte more', () => {
    expect(withinSizeLimit({ size: MAX_UPLOAD_BYTES })).toBe(true)
    expect(withinSizeLimit({ size: MAX_UPLOAD_BYTES + 1 })).toBe(false)
  })
})
