import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEntryNames, safeFolders, safeName, splitExtension } from './entry-names.ts'

test('keeps a plain name, whatever its script', () => {
  for (const name of ['Rent 2026.pdf', 'Vertrag (neu).docx', '契約書.pdf', 'Отчёт.txt'])
    expect(safeName(name, 'x')).toBe(name)
})

test('removes path separators and characters that cannot be unpacked', () => {
  expect(safeName('../../etc/passwd', 'x')).toBe('-..-etc-passwd')
  expect(safeName('C:\\Windows\\win.ini', 'x')).toBe('C--Windows-win.ini')
  expect(safeName('con.txt', 'x')).toBe('con_.txt')
  expect(safeName('bill\u202efdp.exe', 'x')).toBe('billfdp.exe')
  expect(safeName(' trailing. . ', 'x')).toBe('trailing')
  for (const nothing of ['', '...', '\u0000', '  ']) expect(safeName(nothing, 'Untitled')).toBe('Untitled')
})

test('turns any name into one path segment, short enough for every system', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (given) => {
      const name = safeName(given, 'x')
      expect(name).not.toMatch(/[/\\:*?"<>|\u0000-\u001f]|^\.|\.$|^$/)
      expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(151)
    }),
  )
})

test('returns no path twice, ignoring case', () => {
  const name = createEntryNames()
  expect(name('documents', 'Rent', '.pdf')).toBe('documents/Rent.pdf')
  expect(name('documents', 'rent', '.PDF')).toBe('documents/rent (2).PDF')
  expect(name('documents', 'Rent', '.pdf')).toBe('documents/Rent (3).pdf')
  expect(name('conversations', 'Rent', '.pdf')).toBe('conversations/Rent.pdf')
})

test('splits a name from its extension', () => {
  expect(splitExtension('a.b.pdf')).toEqual(['a.b', '.pdf'])
  expect(splitExtension('no ending')).toEqual(['no ending', ''])
  expect(splitExtension('v1. An introduction')).toEqual(['v1. An introduction', ''])
})

test('keeps the folders nearest to the file, each in its place', () => {
  expect(safeFolders('')).toEqual([])
  expect(safeFolders('Contracts/../a:b')).toEqual(['Contracts', 'folder', 'a-b'])
  expect(safeFolders(`${'far away/'.repeat(20)}near`).join('/')).toBe(`${'far away/'.repeat(7)}near`)
})
