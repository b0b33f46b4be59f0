import { expect, test } from 'vitest'
import { replaceEquations } from './equations.ts'

const run = (text: string) => `<m:r><w:rPr><w:b/></w:rPr><m:t>${text}</m:t></m:r>`
const part = (name: string, inside: string) => `<m:${name}>${inside}</m:${name}>`
const written = (inside: string) =>
  /<w:t xml:space="preserve">(.*)<\/w:t>/.exec(replaceEquations(part('oMath', inside)))?.[1]

test.each([
  ['a fraction', part('f', part('num', run('a+b')) + part('den', run('2'))), '(a+b)/2'],
  ['a power', part('sSup', part('e', run('x')) + part('sup', run('2'))), 'x^2'],
  ['both indices', part('sSubSup', part('e', run('x')) + part('sub', run('i+1')) + part('sup', run('2'))), 'x_(i+1)^2'],
  ['a root', part('rad', part('deg', '') + part('e', run('4ac'))), '√4ac'],
  ['a cube root', part('rad', part('deg', run('3')) + part('e', run('x+1'))), '^3√(x+1)'],
  [
    'a sum',
    part(
      'nary',
      '<m:naryPr><m:chr m:val="∑"/></m:naryPr>' + part('sub', run('i=1')) + part('sup', run('n')) + part('e', run('i')),
    ),
    '∑_(i=1)^n i',
  ],
  ['brackets', part('d', '<m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>' + part('e', run('x'))), '[x]'],
  [
    'a matrix',
    part(
      'm',
      part('mr', part('e', run('1')) + part('e', run('0'))) + part('mr', part('e', run('0')) + part('e', run('1'))),
    ),
    '[1, 0; 0, 1]',
  ],
  ['a function', part('func', part('fName', run('sin')) + part('e', run('x'))), 'sin x'],
  ['what must be written otherwise in xml', run('a &lt; b'), 'a &lt; b'],
])('writes %s in a line', (_name, inside, text) => expect(written(inside)).toBe(text))

test('leaves the text around an equation as it is', () => {
  expect(
    replaceEquations(
      `<w:p><w:r><w:t>With </w:t></w:r><m:oMathPara><m:oMathParaPr><m:jc m:val="left"/></m:oMathParaPr><m:oMath>${run('x')}</m:oMath></m:oMathPara></w:p>`,
    ),
  ).toBe('<w:p><w:r><w:t>With </w:t></w:r><w:r><w:t xml:space="preserve">x</w:t></w:r></w:p>')
})
