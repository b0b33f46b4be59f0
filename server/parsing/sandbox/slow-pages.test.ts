import { expect, test } from 'vitest'
import { drawText, makeScannedPdf } from '#test/make-scan.ts'
import { readDocument } from '#test/read-document.ts'
import { PARSE_LIMITS } from './limits.ts'

test('a page whose recognition runs out of time is a gap, and the other pages stay', async () => {
  const picture = await drawText('Minutes of the council of the town, written down by its clerk')
  const file = makeScannedPdf([{ text: 'Rent is due in March. '.repeat(20) }, { picture }])
  const limits = { ...PARSE_LIMITS, timeMsPerRecognisedPage: 1 }
  const { pages, failure } = await readDocument(file, 'a.pdf', limits)
  expect(failure).toBeUndefined()
  expect(pages.map(({ page, gap }) => [page, gap])).toEqual([
    [1, undefined],
    [2, 'not_recognised'],
  ])
})

test('what can be read of such a page without recognition stays: its stamp and the files attached to it', async () => {
  const picture = await drawText('Minutes of the council of the town, written down by its clerk')
  const file = makeScannedPdf([{ picture, stamp: 'Received 3 May' }], 'Ask Ann.')
  const limits = { ...PARSE_LIMITS, timeMsPerRecognisedPage: 1 }
  const { pages, failure } = await readDocument(file, 'a.pdf', limits)
  expect(failure).toBeUndefined()
  expect(pages.map(({ text }) => text)).toEqual(['Received 3 May\n\nAttached file: note.txt\n\nAsk Ann.'])
})
