import { expect, test } from 'vitest'
import { makeDocx } from '#test/make-docx.ts'
import { readDocument } from '#test/read-document.ts'

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const NAMESPACES = `xmlns:r="${RELATIONS}" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"`

const title = (words: string) =>
  `<c:title><c:tx><c:rich><a:p><a:r><a:t>${words}</a:t></a:r></a:p></c:rich></c:tx></c:title>`
const points = (values: readonly (string | number)[]) =>
  values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('')
const numbers = (format: string, values: readonly number[]) =>
  `<c:numRef><c:numCache><c:formatCode>${format}</c:formatCode>${points(values)}</c:numCache></c:numRef>`
const series = (name: string, categories: string, values: string) =>
  `<c:ser><c:tx><c:strRef><c:strCache>${points([name])}</c:strCache></c:strRef></c:tx><c:cat>${categories}</c:cat><c:val>${values}</c:val></c:ser>`

const chart = [
  title('Turnout &amp; cost'),
  series('Turnout', numbers('m/d/yyyy', [45292, 45293]), numbers('0.0%', [0.28, 0.30519801])),
  series('Cost', numbers('m/d/yyyy', [45292, 45293]), numbers('General', [4.4000000000000004])),
  title('Day of the vote'),
].join('')
const diagram =
  '<dgm:pt><dgm:t><a:p><a:r><a:t>Collect</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Sort</a:t></a:r></a:p></dgm:t></dgm:pt>'

const drawing = (graphic: string) => ({ xml: `<w:r><w:drawing ${NAMESPACES}>${graphic}</w:drawing></w:r>` })

test('charts are read where they stand, as their titles and a table of their values, and diagrams as their words', async () => {
  const made = makeDocx(
    [
      { paragraph: 'Before.' },
      drawing('<c:chart r:id="c1"/>'),
      { paragraph: 'Between.' },
      drawing('<dgm:relIds r:lo="x" r:dm="d1"/>'),
      drawing('<c:chart r:id="c1"/>'),
      drawing('<c:chart r:id="missing"/>'),
      { paragraph: 'After.' },
    ],
    {},
    {
      'word/charts/chart1.xml': `<c:chartSpace>${chart}</c:chartSpace>`,
      'word/diagrams/data1.xml': `<dgm:dataModel>${diagram}</dgm:dataModel>`,
      'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATIONS}/styles" Target="styles.xml"/><Relationship Id="c1" Type="${RELATIONS}/chart" Target="charts/chart1.xml"/><Relationship Id="d1" Type="${RELATIONS}/diagramData" Target="/word/diagrams/data1.xml"/></Relationships>`,
    },
  )
  const { pages } = await readDocument(made, 'a.docx')
  expect(
    pages
      .map(({ text }) => text)
      .join('\n\n')
      .split('\n\n'),
  ).toEqual([
    'Before.',
    'Turnout & cost',
    'Day of the vote',
    ' | Turnout | Cost\n2024-01-01 | 28% | 4.4\n2024-01-02 | 30.52%',
    'Between.',
    'Collect',
    'Sort',
    'After.',
  ])
  expect(pages[0]?.blocks?.map(({ kind }) => kind)).toContain('table')
})
