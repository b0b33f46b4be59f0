/** The page reads these for each update of an answer: in proportional time, or the test never ends. */
import { expect, test } from 'vitest'
import { stableMarkdown } from './markdown/stable-markdown.ts'
import { splitMisquotes } from './messages/misquotes.ts'

const LENGTH = 200_000

test.each([' ', '\n', ' \n', '- ', '* ', '`', '> ', '| ', 'a b '])('an answer of many %j', (unit) => {
  const text = `${unit.repeat(LENGTH / unit.length)}x`
  expect(stableMarkdown(text).stable.length).toBeLessThanOrEqual(text.length)
  expect(splitMisquotes(`“${text}`, ['no such words'])).toHaveLength(1)
})
