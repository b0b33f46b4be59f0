import { expect, test } from 'vitest'
import { temporaryMessage, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { conversationMarkdown } from './conversation-markdown.ts'

const said = (message: Partial<ThreadMessage>): ThreadMessage => ({
  ...temporaryMessage('c', '', 'm'),
  created_at: '2026-03-04T12:06:00',
  ...message,
})
const source = (text: string) => ({
  n: 1,
  documentId: '00000000-0000-4000-8000-000000000000',
  filename: 'lease.pdf',
  page: 3,
  start: 0,
  end: 9,
  text,
  score: 1,
})

test('holds the questions, the answers with footnotes of their own, and what is wrong with them', () => {
  const answer = (text: string) =>
    said({ sender_role: 2, content: 'So it is [1].', metadata: { sources: [source(text)] } })
  const unfinished = said({ sender_role: 2, content: 'Half of', metadata: { stopped: true } })
  expect(
    conversationMarkdown('The <lease>', [
      said({ content: 'How long?' }),
      answer('Two years.'),
      answer('Or three.'),
      unfinished,
    ]),
  ).toBe(
    [
      '# The &lt;lease>',
      '## Question, March 4, 2026 at 12:06 PM',
      'How long?',
      '## Answer, March 4, 2026 at 12:06 PM',
      'So it is[^2-1].',
      '[^2-1]: lease.pdf, p. 3: “Two years.”',
      '## Answer, March 4, 2026 at 12:06 PM',
      'So it is[^3-1].',
      '[^3-1]: lease.pdf, p. 3: “Or three.”',
      '## Answer, March 4, 2026 at 12:06 PM',
      'Half of',
      '*You stopped this answer.*\n',
    ].join('\n\n'),
  )
})

test('loads nothing, whoever wrote it', () => {
  const picture = '![](https://evil.test/a)'
  const text = conversationMarkdown(picture, [said({ content: picture }), said({ sender_role: 2, content: picture })])
  expect(text).not.toContain('![')
})
