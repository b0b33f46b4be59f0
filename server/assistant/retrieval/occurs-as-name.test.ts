import { expect, test } from 'vitest'
import { occursAsName } from './occurs-as-name.ts'

test.each([
  ['Summarise the information here', 'form', false],
  ['Summarise the report', 'port', false],
  ['Summarise report.pdf', 'port.pdf', false],
  ['Summarise report.pdfs', 'report.pdf', false],
  ['Summarise the reports, then the port.', 'port', true],
  ['Summarise “Port.pdf”, please', 'port.pdf', true],
  ['Fasse Übersicht.txt zusammen', 'sicht.txt', false],
  ['请总结报告.pdf的内容', '报告.pdf', true],
  ['契約書.pdfを要約して', '契約書.pdf', true],
  ['总结租赁合同', '租赁合同', true],
  ['계약서.pdf를 요약해 줘', '계약서.pdf', true],
  ['가계약서.pdf를 요약해 줘', '계약서.pdf', false],
  ['สรุปรายงาน.pdfให้หน่อย', 'รายงาน.pdf', true],
  ['لخص العقد.pdf', 'عقد.pdf', true],
  ['सारांश नियमावली', 'नियम', false],
  ['anything', '', false],
])('%s: %s', (question, name, occurs) => {
  expect(occursAsName(question, name)).toBe(occurs)
})
