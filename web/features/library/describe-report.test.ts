import { expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { describeReport } from './describe-report.ts'

test('names the pages that were recognised, and those without text with the reason', () => {
  const report = {
    pages: 20,
    recognised: [
      { page: 3, confidence: 91 },
      { page: 4, confidence: 93 },
      { page: 9, confidence: 41 },
    ],
    without_text: [
      { page: 12, why: 'blank' as const },
      { page: 13, why: 'not_recognised' as const },
    ],
    cut: [],
  }
  expect(describeReport(report, UPLOAD_TYPES.pdf)).toEqual([
    { term: 'Read', detail: '18 of 20 pages' },
    { term: 'By text recognition', detail: 'Pages 3–4, 92% confidence on average' },
    { term: 'By text recognition, unsure', detail: 'Page 9, 41% confidence' },
    { term: 'No text: nothing is on it', detail: 'Page 12' },
    { term: 'No text: no text was found in what it shows', detail: 'Page 13' },
  ])
})

test('calls the parts of a workbook sheets', () => {
  const report = { pages: 2, recognised: [], without_text: [{ page: 2, why: null }], cut: [1] }
  expect(describeReport(report, UPLOAD_TYPES.xlsx)).toEqual([
    { term: 'Read', detail: '1 of 2 sheets' },
    { term: 'No text: no text was found', detail: 'Sheet 2' },
    { term: 'Cut at the limit', detail: 'Sheet 1' },
  ])
})
