import { expect, test } from 'vitest'
import type { CellObject } from '@e965/xlsx'
import { createFormulas, type DefinedFormula } from './evaluate.ts'
import { CellError } from './values.ts'

type Given = number | string | boolean | null | { readonly f: string }

function cellOf(given: Given): CellObject | undefined {
  if (given === null) return undefined
  if (typeof given === 'object') return { t: 'z', f: given.f }
  return { t: typeof given === 'number' ? 'n' : typeof given === 'string' ? 's' : 'b', v: given }
}

const items: readonly Given[][] = [
  ['Item', 'Price', 'Pieces'],
  ['Lamp', 12.5, 4],
  ['Wick', 0.8, 90],
  ['Oil', 3, null],
]

/** Result of a formula in cell D2 next to a small table. */
function compute(formula: string, names: readonly DefinedFormula[] = [], extra: readonly Given[] = []) {
  const rows = items.map((row) => row.map(cellOf))
  rows[1]?.push(cellOf({ f: formula }), ...extra.map(cellOf))
  const notes = [[cellOf(0.19)], [cellOf('done')]]
  const formulas = createFormulas({
    sheets: [
      { name: 'Costs', cells: rows },
      { name: 'More notes', cells: notes },
    ],
    names,
    is1904: false,
  })
  const result = formulas.compute(0, 1, 3)
  return result instanceof CellError ? result.code : result
}

test.each([
  ['B2*C2', 50],
  ['SUM(B2:B4)', 16.3],
  ['SUM(B:B)', 16.3],
  ['AVERAGE(B2:B4)', 16.3 / 3],
  ['COUNT(C2:C4)', 2],
  ['COUNTA(A1:A4)', 4],
  ['COUNTBLANK(C2:C4)', 1],
  ['MAX(B2:C4)', 90],
  ['SUBTOTAL(9,B2:B4)', 16.3],
  ['SUMPRODUCT(B2:B4,C2:C4)', 122],
  ['SUMPRODUCT((A2:A4="Lamp")*B2:B4)', 12.5],
  ['SUMIF(A2:A4,"Lamp",B2:B4)', 12.5],
  ['SUMIF(B2:B4,">1")', 15.5],
  ['COUNTIF(A2:A4,"*i*")', 2],
  ['COUNTIFS(B2:B4,">1",C2:C4,"<>")', 1],
  ['AVERAGEIF(A2:A4,"<>Lamp",B2:B4)', 1.9],
  ['VLOOKUP("wick",A2:C4,3,FALSE)', 90],
  ['INDEX(B2:B4,MATCH("Oil",A2:A4,0))', 3],
  ['_xlfn.XLOOKUP("Bell",A2:A4,B2:B4,"none")', 'none'],
  ['IF(B2>10,"dear","cheap")', 'dear'],
  ['IFERROR(1/0,"-")', '-'],
  ['IF(TRUE,C4)', 0],
  ['AND(B2>1,B3>1)', false],
  ['A2&" costs "&B2', 'Lamp costs 12.5'],
  ['CONCATENATE("Delivery within ",6*2," days")', 'Delivery within 12 days'],
  ['TEXTJOIN(", ",TRUE,A2:A4)', 'Lamp, Wick, Oil'],
  ['TEXT(B2,"0.00 €")', '12.50 €'],
  ['TEXT(DATE(2023,6,15),"d mmmm yyyy")', '15 June 2023'],
  ['DATE(2024,2,30)', 45_352],
  ['YEAR(45092)+MONTH(45092)+DAY(45092)', 2044],
  ['EOMONTH(45092,0)', 45_107],
  ['WEEKDAY(45092,2)', 4],
  ['DATEDIF(45000,45092,"m")', 3],
  ['ROUND(1.005,2)', 1.01],
  ['ROUND(-2.5,0)', -3],
  ['ROUNDUP(1234,-2)', 1300],
  ['MOD(-7,3)', 2],
  ['-2^2', 4],
  ['2^-1', 0.5],
  ['50%', 0.5],
  ['0.1+0.2-0.3', 0],
  ['1=1', true],
  ['"a"="A"', true],
  ["'More notes'!A1*100", 19],
  ["SUM('More notes'!A1:A2)", 0.19],
  ['LEFT(A2,2)&UPPER(MID(A2,3,9))', 'LaMP'],
  ['SUBSTITUTE("a-b-c","-","+",2)', 'a-b+c'],
  ['SEARCH("o?l","the oil")', 5],
  ['1/0', '#DIV/0!'],
  ['A2*2', '#VALUE!'],
  ['VLOOKUP("Bell",A2:C4,2,FALSE)', '#N/A'],
  ['SUM({1,2;3,4})', 10],
  ['ROW()', 2],
  ['ISODD(3)', true],
  ['HYPERLINK("https://example.org","Order")', 'Order'],
  ['C4', 0],
  ['ROUND(PMT(0.05/12,60,-10000),2)', 188.71],
  ['LARGE(B2:B4,2)', 3],
  ['RANK(B2,B2:B4)', 1],
  ['SUMPRODUCT(LEN(A2:A4))', 11],
  ['SUMPRODUCT((YEAR(B2:B4+45000)=2023)*B2:B4)', 16.3],
  ['SUMPRODUCT(1/COUNTIF(A1:A4,A1:A4))', 4],
  ['SUMPRODUCT(ROW(A1:A4)*1)', 10],
  ['SUMPRODUCT(COLUMN(A1:C1)*1)', 6],
  ['SUMPRODUCT(--ISNUMBER(SEARCH("i",A2:A4)))', 2],
  ['SUMPRODUCT(ROUND(B2:B4,0))', 17],
  ['LOOKUP(2,1/(LEN(A2:A4)=3),B2:B4)', 3],
  ['UNICHAR(65.5)', 'A'],
  ['UNICHAR(55296)', '#N/A'],
  ['FACT(-1)', '#NUM!'],
  ['FACT(171)', '#NUM!'],
  ['FACT(5.9)', 120],
  ['FACTDOUBLE(7)', 105],
  ['FACTDOUBLE(1E9)', '#NUM!'],
  ['COMBIN(365,2)', 66_430],
  ['COMBIN(1E15,5E14)', '#NUM!'],
  ['COMBIN(2,3)', '#NUM!'],
  ['COMBINA(4,3)', 20],
  ['PERMUT(365,2)', 132_860],
  ['MULTINOMIAL(2,3,4)', 1260],
  ['GCD(24,36)', 12],
  ['LCM(24,36)', 72],
  ['LCM(999999937,999999929)', 999_999_937 * 999_999_929],
  ['ROUND(1E20,2)', 1e20],
  ['ROUND(5,21)', 5],
  ['ROUND(5,400)', 5],
  ['ROUND(1E20,-400)', 0],
  ['PERCENTILE({1,2,3,4},0.3)', 1.9],
  ['PERCENTILE.INC({1,2,3,4},0.3)', 1.9],
  ['QUARTILE({1,2,3,4},1)', 1.75],
  ['_xlfn.QUARTILE.INC({1,2,3,4},1)', 1.75],
  ['YEAR(1E10)', '#NUM!'],
  ['WEEKDAY(1E10)', '#NUM!'],
  ['HOUR(1E10)', '#NUM!'],
  ['EDATE(1E10,1)', '#NUM!'],
  ['EDATE(45000,1E10)', '#NUM!'],
  ['EOMONTH(45000,-1E10)', '#NUM!'],
  ['DATE(1E10,1,1)', '#NUM!'],
  ['DATEDIF(1,1E10,"d")', '#NUM!'],
  ['NETWORKDAYS(45000,45092)', 67],
  ['NETWORKDAYS(45092,45000)', -67],
  ['NETWORKDAYS(45003,45004)', 0],
  ['SEARCH("~*","2*3")', 2],
  ['SEARCH("W*K","a wick")', 3],
  ['SEARCH("*k","a wick")', 1],
  ['SEARCH("z*","a wick")', '#VALUE!'],
  ['COUNTIF(A1:A4,"?i*k")', 1],
  ['COUNTIF(A1:A4,"*m*m*")', 0],
  ['COUNTIF(A1:A4,"*c*")', 1],
  ['COUNTIF(A1:A4,"Oi*il")', 0],
  ['VALUE("none")', '#VALUE!'],
])('%s is %s', (formula, result) =>
  typeof result === 'number' ? expect(compute(formula)).toBeCloseTo(result, 9) : expect(compute(formula)).toBe(result),
)

test.each([
  ['COUNTBLANK(B2:B100)', 96],
  ['COUNTBLANK(A3:F4)', 7],
  ['COUNTIF(A2:A100,"")', 96],
  ['COUNTIFS(A1:A50,"",B1:B50,"")', 46],
  ['SUMPRODUCT((A1:A100="")*1)', 96],
  ['SUMPRODUCT(--ISBLANK(A1:A100))', 96],
  ['SUMPRODUCT(1/COUNTIF(A1:A60,A1:A60&""))', 5],
  ["SUMPRODUCT(B2:B100,'More notes'!A1:A99)", 12.5 * 0.19],
  ["SUMPRODUCT(B:B,'More notes'!A:A)", 0],
  ['SUMPRODUCT(ROW(A1:A100)*(\'More notes\'!A1:A100="done"))', 2],
  ['INDEX(A1:A100,80)', 0],
  ['INDEX(A1:A100,101)', '#REF!'],
  ['INDEX(A1:Z1,1,20)', 0],
  ['VLOOKUP("Oil",A3:F9,6,FALSE)', 0],
  ['HLOOKUP("Item",A1:C9,8,FALSE)', 0],
  ['SUM(B2:B1048576)', 16.3],
  ['SUM(A3:IV65536)', 93.8],
  ['MATCH("Oil",A1:A65536,0)', 4],
])('empty cells below and behind those of a sheet count: %s is %s', (formula, result) =>
  typeof result === 'number' ? expect(compute(formula)).toBeCloseTo(result, 9) : expect(compute(formula)).toBe(result),
)

test('ranges far beyond the last row cost little more than their cells', () => {
  const cells = Array.from({ length: 3_000 }, (_, row) => [
    cellOf(row),
    cellOf({ f: 'SUM(A$1:A$60000)+SUMPRODUCT((A$2990:A$60000>0)*1)+COUNTBLANK(A$2999:A$60000)' }),
  ])
  const formulas = createFormulas({ sheets: [{ name: 'S', cells }], names: [], is1904: false })
  expect(formulas.compute(0, 0, 1)).toBe(4_498_500 + 11 + 57_000)
  expect(formulas.compute(0, 900, 1)).toBe(4_498_500 + 11 + 57_000)
})

test.each([
  'NOW()',
  'TODAY()-45000',
  'RAND()',
  'IF(B2>1,RANDBETWEEN(1,6),0)',
  'OFFSET(A1,1,1)',
  'INDIRECT("B2")',
  'WEBSERVICE("https://example.org")',
  '[1]Prices!B2',
  'Unknown*2',
  'NoSuchSheet!A1',
  'D2+1',
  'SUM(D1:D3)',
  'B2:B4*2',
  'B2+',
  'Table1[Price]',
  'LET(x,1,x)',
  'SUMPRODUCT()',
  'SUMPRODUCT(VLOOKUP(A2:A4,A2:C4,2,FALSE))',
  'SUM(A1:INDEX(B:B,3))',
  'DATEDIF(45000,45092,"md")',
  'DATEDIF(45000,45092,"YD")',
  '"2024-01-01"+1',
  '-"1,234"',
  'ROUND("1,234",0)',
  'SUM("1,234")',
  'IFERROR(VALUE("1,234"),0)',
  'COUNTIF(B2:B4,">=2024-01-01")',
  'SUMIF(B2:B4,"<1/2/2024")',
  'COUNTIF(B2:B4,"1,234")',
  '_xlfn.XLOOKUP("Wick",A2:A4,B2:C4)',
  'DDB(1E6,1,1E12,1E12)',
  'DB(1E6,1,1E12,1E12)',
])('%s is not computed', (formula) => expect(compute(formula)).toBeUndefined())

test('a formula uses the results of others, but no cycle', () => {
  expect(compute('E2+1', [], [{ f: 'B2*2' }])).toBe(26)
  expect(compute('E2+1', [], [{ f: 'D2*2' }])).toBeUndefined()
})

test('a defined name is a cell, a number or a formula', () => {
  const name = (formula: string) => [{ name: 'Rate', formula, sheet: undefined }]
  expect(compute('Rate*100', name("'More notes'!$A$1"))).toBe(19)
  expect(compute('rate*100', name('0.07'))).toBeCloseTo(7)
  expect(compute('Rate', name('Rate+1'))).toBeUndefined()
})

test('a long chain is computed, and endless work ends', () => {
  const chain: (CellObject | undefined)[][] = [[cellOf(1)]]
  for (let row = 1; row < 5_000; row += 1) chain.push([cellOf({ f: `A${row}+1` })])
  const running = createFormulas({ sheets: [{ name: 'S', cells: chain }], names: [], is1904: false })
  const results = chain.map((_, row) => (row === 0 ? 1 : running.compute(0, row, 0)))
  expect(results.at(-1)).toBe(5_000)

  const wide: (CellObject | undefined)[][] = Array.from({ length: 3_000 }, (_, row) => [
    cellOf(row),
    cellOf({ f: 'SUMPRODUCT(A$1:A$3000*TRANSPOSE(A1:A1))+SUM(A1:A3000)*SUM(A1:A3000)*SUM(A1:A3000)*SUM(A1:A3000)' }),
    cellOf({ f: 'SUM(A$1:A$3000)+SUM(A$1:A$3000)+SUM(A$1:A$3000)' }),
  ])
  const endless = createFormulas({ sheets: [{ name: 'S', cells: wide }], names: [], is1904: false })
  const started = performance.now()
  const sums = wide.map((_, row) => endless.compute(0, row, 2))
  expect(sums[0]).toBe(3 * 4_498_500)
  expect(sums.at(-1)).toBeUndefined()
  expect(performance.now() - started).toBeLessThan(15_000)
})

test('an array formula gives each of its cells its own result', () => {
  const array = (f?: string): CellObject => ({ t: 'z', F: 'B1:B2', ...(f === undefined ? {} : { f }) })
  const cells = [
    [cellOf(1), array('A1:A2*10')],
    [cellOf(2), array()],
  ]
  const formulas = createFormulas({ sheets: [{ name: 'S', cells }], names: [], is1904: false })
  expect([0, 1].map((row) => formulas.compute(0, row, 1))).toEqual([10, 20])
})

test.each([
  ['SUM(LEN(A1:A2))', 5],
  ['SUM(ROW(A1:A2))', 3],
  ['MATCH(1,A1:A2,{0,1})', undefined],
])('the array formula %s is %s', (f, result) => {
  const cells = [[cellOf('two'), { t: 'z', F: 'B1:B1', f } satisfies CellObject], [cellOf('10')]]
  const formulas = createFormulas({ sheets: [{ name: 'S', cells }], names: [], is1904: false })
  expect(formulas.compute(0, 0, 1)).toBe(result)
})

test('a stored error has its own kind in the formulas that refer to it', () => {
  const cells = [[{ t: 'e', v: 42 } satisfies CellObject, cellOf({ f: 'IFNA(A1,"none")' })]]
  const formulas = createFormulas({ sheets: [{ name: 'S', cells }], names: [], is1904: false })
  expect(formulas.compute(0, 0, 1)).toBe('none')
})

test.each([
  ['HYPERLINK(UNICHAR(65.5))', 'A'],
  ['HYPERLINK(SUMPRODUCT(),"x")', undefined],
  ['HYPERLINK(FACT(-1),"x")', undefined],
  ['HYPERLINK(LCM("a","b"),"x")', undefined],
])('the address of %s is %s', (f, address) => {
  const formulas = createFormulas({ sheets: [{ name: 'S', cells: [[cellOf({ f })]] }], names: [], is1904: false })
  expect(formulas.address(0, 0, 0)).toBe(address)
})

const LONG = 'a'.repeat(2_000)

test.each([
  ['NETWORKDAYS(1E16,1E16)', '#NUM!'],
  ['NETWORKDAYS(1,2958465)', 2_113_190],
  ['COUNTIF(A1,"*a*a*a*a*b")', 0],
  ['SEARCH("a*a*a*a*b",A1)', '#VALUE!'],
  ['LCM(9007199254740881,2)', 2 * 9_007_199_254_740_881],
])('%s takes no time without end', (f, result) => {
  const formulas = createFormulas({
    sheets: [{ name: 'S', cells: [[cellOf(LONG), cellOf({ f })]] }],
    names: [],
    is1904: false,
  })
  const started = performance.now()
  const computed = formulas.compute(0, 0, 1)
  expect(computed instanceof CellError ? computed.code : computed).toBe(result)
  expect(performance.now() - started).toBeLessThan(1_000)
})

test('reading formulas counts as work: many different ones end, and are not held', () => {
  const columns = Array.from({ length: 200 }, (_, column) => column)
  const long = Array.from({ length: 400 }, (_, index) => `${index}`).join('+')
  const cells = Array.from({ length: 500 }, (_, row) =>
    columns.map((column) => cellOf({ f: `${long}+${row}+${column}` })),
  )
  const formulas = createFormulas({ sheets: [{ name: 'S', cells }], names: [], is1904: false })
  const started = performance.now()
  const results = cells.map((line, row) => line.map((_, column) => formulas.compute(0, row, column)))
  expect(results[0]?.[0]).toBe(79_800)
  expect(results.at(-1)?.at(-1)).toBeUndefined()
  expect(performance.now() - started).toBeLessThan(15_000)
})

test('whole columns end with their own sheet, however long another one is', () => {
  const summary = [[cellOf('x'), cellOf(2), cellOf(3)]]
  const data = Array.from({ length: 90_000 }, () => [cellOf(1)])
  const formulas = (f: string) =>
    createFormulas({
      sheets: [
        { name: 'Summary', cells: [[...(summary[0] ?? []), cellOf({ f })]] },
        { name: 'Data', cells: data },
      ],
      names: [],
      is1904: false,
    }).compute(0, 0, 3)
  expect(formulas('SUMPRODUCT((A:B="x")*C:C)')).toBe(3)
  expect(formulas('COUNTIF(A:A,"x")+ROWS(A:A)')).toBe(2)
})
