import { describe, expect, test } from 'vitest'

import { nextUploads, type Upload, type UploadEvent } from './upload-list.ts'

const document = {
  id: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  filename: 'a.pdf',
  originalname: 'a.pdf',
  mimetype: 'application/pdf',
  size: 10,
  state: 'queued' as const,
  pages: null,
  pages_done: 0,
  error: null,
  uploaded_at: '2026-11-21T10:00:00Z',
  series: '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11',
  version: 1,
  superseded_at: null,
}

function upload(key: string): Upload {
  return { key, zone: 'page', name: `${key}.pdf`, size: 10, step: { at: 'sending', share: 0 } }
}

function after(...events: UploadEvent[]): Upload[] {
  return events.reduce<Upload[]>(nextUploads, [])
}

describe('nextUploads', () => {
  const chosen: UploadEvent = { type: 'chosen', uploads: [upload('a'), upload('b')], over: [] }

  test('follows each file by itself', () => {
    const uploads = after(
      chosen,
      { type: 'sent', key: 'a', share: 0.5 },
      { type: 'refused', key: 'b', message: 'b.pdf is empty' },
    )
    expect(uploads.map(({ step }) => step)).toEqual([
      { at: 'sending', share: 0.5 },
      { at: 'refused', message: 'b.pdf is empty' },
    ])
  })

  test('a new choice keeps what is under way and clears what is over', () => {
    const taken: UploadEvent = { type: 'taken', key: 'a', document }
    const keysAfter = (over: string[]) =>
      after(chosen, taken, { type: 'chosen', uploads: [upload('c')], over }).map(({ key }) => key)
    expect(keysAfter(['b'])).toEqual(['a', 'c'])
    expect(keysAfter([])).toEqual(['a', 'b', 'c'])
  })

  test('a dismissed row does not come back with late progress', () => {
    expect(after(chosen, { type: 'dismissed', key: 'a' }, { type: 'sent', key: 'a', share: 1 })).toHaveLength(1)
  })
})
