import { expect, test } from 'vitest'
import {
  asksToListAll,
  asksAboutWholeDocument,
  withoutListAllWords,
  refersToDocuments,
} from './whole-document-question.ts'

test.each([
  'Summarise this file',
  'Please summarize the report in three sentences.',
  'Give me an overview of the contract',
  'What is this document about?',
  'What are the main points of my newest document?',
  'Which are the most important facts in the report?',
  'Was sind die wichtigsten Punkte des Vertrags?',
  'list all dates',
  'Find every deadline in the lease',
  'Fasse das Dokument zusammen',
  'Kannst du die Datei bitte zusammenfassen?',
  'Liste alle Termine auf',
  'Résume ce document',
  'Liste toutes les dates',
  'Resume este archivo',
  'Enumera todas las fechas',
  'Riassumi il documento',
  'Elenca tutte le date',
  'Resuma este documento',
  'Vat dit document samen',
  'Кратко: составь резюме документа',
  'Перечисли все даты',
  'لخص هذا الملف',
  'اذكر جميع التواريخ',
  '总结这个文件',
  '列出所有日期',
  'この文書を要約してください',
  'Özetle',
  'Sammanfatta dokumentet',
])('%s asks for a whole document', (question) => {
  expect(asksAboutWholeDocument(question)).toBe(true)
})

test.each([
  'How long is the notice period?',
  'When does the summer school begin?',
  'Who signed the list?',
  'What does the report say about fees?',
  'Wann ist die Miete fällig?',
  'Quel est le délai de préavis ?',
  'Allen the keeper found the lamp',
  '',
])('%s does not', (question) => {
  expect(asksAboutWholeDocument(question)).toBe(false)
})

test('distinguishes several documents from one', () => {
  const several = [
    'Summarise my documents',
    'the main points of these files',
    'Fasse alle Berichte zusammen',
    'Résume mes documents',
  ]
  expect(several.filter(refersToDocuments)).toEqual(several)
  const one = ['Summarise this document', 'What does the file say?', 'Fasse das Dokument zusammen', 'the documentation']
  expect(one.filter(refersToDocuments)).toEqual([])
})

test.each([
  ['List all deadlines in the lease', 'deadlines in the lease'],
  ['Liste alle Termine auf', 'Termine auf'],
  ['列出所有日期', '日期'],
])('%s asks for every one of a kind', (question, kind) => {
  expect(asksToListAll(question)).toBe(true)
  expect(withoutListAllWords(question).trim()).toBe(kind)
})

test('a summary of all points is not a request to list them', () => {
  expect(asksToListAll('Summarise the lease and list all deadlines')).toBe(false)
})
