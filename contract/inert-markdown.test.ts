import { Marked } from 'marked'
import { describe, expect, test } from 'vitest'
import { inertMarkdown, inertText } from './inert-markdown.ts'

const EVIL = '![](https://evil.test/data)'
const loads = (markdown: string): boolean => /<img/i.test(new Marked().parse(markdown, { async: false }))

describe('images and HTML load nothing', () => {
  test.each([
    EVIL,
    `Text ${EVIL} text`,
    `![a][b]\n\n[b]: https://evil.test/data`,
    `![b]\n\n[b]: https://evil.test/data`,
    `\\\\${EVIL}`,
    `[${EVIL}](https://example.test)`,
    `| a | b |\n|---|---|\n| \` | ${EVIL} | \` |`,
    '<img src="https://evil.test/data">',
    '<IMG\nsrc="https://evil.test/data">',
    '\\\\<img src="https://evil.test/data">',
    '<svg><image href="https://evil.test/data"/></svg><img src=x>',
    `\` a\n\` ${EVIL} \``,
    `\\\` ${EVIL} \``,
    `\`\` a \` ${EVIL} \`\`\` b`,
    `<https://a\`> ${EVIL} \``,
    `- a\n\n  \`\`\`\n  code\n${EVIL}`,
    `- a\n\n  \`\`\`\n  code\n     \`\`\`\n  ${EVIL}`,
    `1. \`\`\`\n   code\n   \`\`\`\n   ${EVIL}`,
    `- \`\`\`\n  code\n  \`\`\`\n\n${EVIL}`,
    `> \`\`\`\n> code\n\n${EVIL}`,
    `    \`\`\`\n\n${EVIL}`,
    `  \`\`\`\ncode\n  \`\`\`\n${EVIL}`,
    `\`\`\`\`\n\`\`\`\n\`\`\`\`\n${EVIL}`,
    `~~~\n\`\`\`\n~~~\n${EVIL}`,
    `\`\`\` a\`b\n${EVIL}`,
    `\`\`\`\rcode\r\`\`\`\r${EVIL}`,
  ])('%j', (markdown) => {
    const inert = inertMarkdown(markdown)
    expect(loads(inert)).toBe(false)
    expect(inert.replaceAll('&#33;', '!').replaceAll('&lt;', '<')).toBe(markdown)
  })

  test.each([
    `$$\n\`\`\`\n$$\n${EVIL}`,
    `\\[\n\`\`\`\n\\]\n${EVIL}`,
    `---\n\`\`\`\n---\n${EVIL}`,
    `%%\n\`\`\`\n%%\n${EVIL}`,
    `\`$ ${EVIL} $\``,
  ])('also in viewers that know formulas, settings and comments: %j', (markdown) => {
    expect(inertMarkdown(markdown)).toContain(EVIL.replace('!', '&#33;'))
  })
})

test.each([
  'Plain text, *emphasis*, 1 < 2, a[0]!, and [a link](https://example.test).',
  '<https://example.test/a?b=c> and <mailto:ada@example.test>',
  'A span `<div>` and ``a ` <b>`` here.',
  `\`\`\`html\n<img src="a.png">\n${EVIL}\n\`\`\`\n\nAfter it.`,
  '~~~\n<b>\n~~~',
  '   ```\n   <b>\n   ```',
  '```\nnever closed <b>',
])('leaves as it is: %j', (markdown) => expect(inertMarkdown(markdown)).toBe(markdown))

test('text outside of code keeps its meaning but for images and HTML', () => {
  expect(inertMarkdown(`See ![the lamp](https://example.test/lamp.png) <b>now</b>.`)).toBe(
    'See &#33;[the lamp](https://example.test/lamp.png) &lt;b>now&lt;/b>.',
  )
  expect(inertMarkdown(String.raw`Escaped \![a](b), \\\<b> and \\<b>.`)).toBe(
    String.raw`Escaped &#33;[a](b), \\&lt;b> and \\&lt;b>.`,
  )
  expect(inertMarkdown(String.raw`https://a\<img src=x>`)).toBe('https://a&lt;img src=x>')
  expect(inertText('`![a](b)`')).toBe('`&#33;[a](b)`')
})

test('a random mixture of marks never loads an image', () => {
  const pieces = ['`', '``', '```', '~~~', '\n', '\n\n', '- ', '  ', '    ', '> ', 'a', ' ', '\\', '|', '<', '>', '[', ']', '1. ', EVIL, '<img src=x>', '#', '\t', 'https://a', '<https://a', '*'] // prettier-ignore
  let state = 27
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  let active = 0
  for (let round = 0; round < 20_000; round += 1) {
    const markdown = Array.from({ length: 4 + next(20) }, () => pieces[next(pieces.length)]).join('')
    if (loads(markdown)) active += 1
    expect(loads(inertMarkdown(markdown)), JSON.stringify(markdown)).toBe(false)
  }
  expect(active).toBeGreaterThan(5_000)
})
