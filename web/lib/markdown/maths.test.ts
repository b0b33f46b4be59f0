import { describe, expect, it } from 'vitest'
import { lexMarkdown, type MathsToken } from './markdown.ts'
import { openMathsIndex } from './maths.ts'

/** Every formula of a text, wherever it stands, as the page draws them. */
function formulas(text: string): string[] {
  const found: string[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit)
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value && value.type === 'maths') {
        const { source, display } = value as MathsToken
        found.push(display ? `display ${source}` : source)
      } else Object.values(value).forEach(visit)
    }
  }
  visit(lexMarkdown(text))
  return found
}

describe('what is maths', () => {
  it.each([
    ['Einstein said $E = mc^2$ once.', ['E = mc^2']],
    ['$a$, $b$ and $c$', ['a', 'b', 'c']],
    ['the $n$th of $k$s, on the $x$-axis', ['n', 'k', 'x']],
    ['($x$) "$y$" **$z$**', ['x', 'y', 'z']],
    ['$3x + 2 = 5$ and $2$ and $10\\%$', ['3x + 2 = 5', '2', '10\\%']],
    ['$5 \\text{ and } 10$', ['5 \\text{ and } 10']],
    ['a \\(x_1 + x_2\\) b', ['x_1 + x_2']],
    ['a \\(f(x) = (1)\\) b', ['f(x) = (1)']],
    ['a \\[x^2\\] b', ['display x^2']],
    ['a $$x^2$$ b', ['display x^2']],
    ['$$x^2$$', ['display x^2']],
    ['Look:\n$$\n\\frac{a}{b}\n$$\nso', ['display \\frac{a}{b}']],
    [
      'Look:\n\n\\[\n\\begin{aligned}\n- a &= b \\\\\n+ c &= [d]\n\\end{aligned}\n\\]\n',
      ['display \\begin{aligned}\n- a &= b \\\\\n+ c &= [d]\n\\end{aligned}'],
    ],
    ['- one:\n  $$\n  x\n  $$\n- two $y$', ['display x', 'y']],
    ['| a | b |\n|---|---|\n| $x$ | \\(y\\) |', ['x', 'y']],
    ['$\\$5 + x$', ['\\$5 + x']],
    ['$*a* b_c$ and *d*', ['*a* b_c']],
    ['$x$ costs $5', ['x']],
  ])('%j', (text, wanted) => expect(formulas(text)).toEqual(wanted))
})

describe('what stays text', () => {
  it.each([
    'It costs $5 and $10.',
    'It costs $5, $10 or $15.',
    'Between $5-$10 a month',
    'A $20/$30 split',
    '$5 (was $10)',
    '$1,000.50 to $2,000.75',
    'US$5 or A$7',
    'It costs $5 and 10$.',
    'Either $5. That’s 5$.',
    'Use $HOME/$USER and $PATH',
    'Only one $ here',
    'Escaped \\$x\\$ marks',
    'ends on 31 March.\\[1\\] It continues',
    'as he said \\[see note 2, a\\_b\\]',
    'A space $ x $ inside',
    'Not `$x$` in code',
    '```\n$$\nx\n$$\n```',
    'Never closed $x + 1',
    'Never closed $$\nx + 1',
    'Never closed \\(x + 1',
    '$$\nx\n\ny\n$$',
    '$$$$',
  ])('%j', (text) => expect(formulas(text)).toEqual([]))
})

it('finds an unclosed formula', () => {
  expect(openMathsIndex('Look:\n$$\n- a')).toBe(6)
  expect(openMathsIndex('Look:\n\\[\n- a')).toBe(6)
  expect(openMathsIndex('Look:\n$$\n- a\n$$\n')).toBe(-1)
  expect(openMathsIndex('Look:\n$$\n- a\n\nNo more of it')).toBe(-1)
})
