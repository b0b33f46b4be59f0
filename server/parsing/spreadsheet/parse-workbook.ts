import * as library from '@e965/xlsx'
import { type ParsingOptions, read, set_cptable, type WorkBook, type WorkSheet } from '@e965/xlsx'
import * as codePages from '@e965/xlsx/dist/cpexcel.full.mjs'
import { z } from 'zod'
import { createByteSource } from '#server/parsing/containers/byte-source.ts'
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'
import { isCompoundFile, listStreamNames } from '#server/parsing/containers/compound-streams.ts'
import { rejectZipBomb } from '#server/parsing/containers/reject-zip-bomb.ts'
import { unpack } from '#server/parsing/containers/unpack.ts'
import type { ZipEntry } from '#server/parsing/containers/zip-directory.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { MAX_PAGES, type ParsedPart } from '#server/parsing/page.ts'
import { decryptPackage, decryptWorkbook } from './default-password.ts'
import { defineBuiltins, findEastAsianLocale } from './builtin-formats.ts'
import type { CellContext } from './cell-value.ts'
import { removeTypesWithoutValues } from './cells-without-values.ts'
import { type SheetCells, writeSheet } from './sheet-text.ts'
import { createFormulas, isStored } from './formulas/evaluate.ts'
import { readTextBoxes } from './text-boxes.ts'

/** Larger workbooks are cut to a number of rows per sheet; 2 million cells unpack to about 80 MB. */
const MAX_UNLIMITED_BYTES = 64 * 1024 * 1024
const MAX_ROWS = 100_000
const MAX_DRAWING_BYTES = 8 * 1024 * 1024

const OPTIONS = { dense: true, cellNF: true, cellHTML: false, cellText: false, sheetStubs: true } as const

/** Parts without cells, which may be broken without affecting the sheets. */
const WITHOUT_CELLS = /^xl\/(?:media|embeddings|printerSettings|activeX)\/|\.(?:wmf|emf|jpe?g|png|gif)$|\/vbaProject/i

const STYLES = 'xl/styles.xml'
/** Cells with words by which the language of a workbook is found. */
const SAMPLE_CELLS = 2_000

const SHEET = /worksheets\/[^/]+\.xml$/i

const { parse_zip: readParts } = z
  .custom<{ readonly parse_zip: (parts: object, options: ParsingOptions) => WorkBook }>(
    (value) => typeof value === 'object' && value !== null && 'parse_zip' in value,
  )
  .parse(library)

/** Text of old workbooks uses the code page of the machine that wrote it. */
set_cptable(codePages)

/** Each sheet is a page that begins with the sheet's name. */
export async function* parse(uploaded: Uint8Array): AsyncGenerator<ParsedPart> {
  const bytes = await unwrap(uploaded)
  const entries = await listParts(bytes)
  const workbook = open(bytes, entries)
  const sheets = workbook.SheetNames
  const is1904 = workbook.Workbook?.WBProps?.date1904 === true
  if (sheets.length > MAX_PAGES) throw new ParseFailure('too_large')
  const textBoxes = entries ? readAllTextBoxes(bytes, entries) : []
  const context = contextOf(workbook, is1904, entries ? readStyles(bytes, entries) : '')
  yield { pages: sheets.length }
  for (const [index, name] of sheets.entries()) {
    // Charts and modules are listed as sheets and have no cells.
    const sheet = workbook.Sheets[name]
    const { text, headings, rows, columns, blocks, isCut } = writeSheet({
      name,
      cells: cellsOf(sheet),
      merges: sheet?.['!merges'] ?? [],
      textBoxes: textBoxes[index] ?? [],
      context: { ...context, sheet: index },
    })
    yield {
      page: index + 1,
      text,
      headings,
      blocks,
      rows,
      columns,
      ...(isCut || isRowLimited(sheet) ? { isCut: true } : {}),
      ...(text === '' ? { gap: 'blank' } : {}),
    }
  }
}

/** An encrypted .xlsx is wrapped in a compound file. */
async function unwrap(bytes: Uint8Array): Promise<Uint8Array> {
  const isWrapped = (await listStreamNames(createByteSource(bytes))).includes('encryptedpackage')
  return isWrapped ? decrypt(bytes, decryptPackage) : bytes
}

function decrypt(bytes: Uint8Array, decryptIt: (bytes: Uint8Array) => Buffer | undefined): Buffer {
  let decrypted
  try {
    decrypted = decryptIt(bytes)
  } catch (error) {
    throw new ParseFailure('encrypted', { cause: error })
  }
  if (!decrypted) throw new ParseFailure('encrypted')
  return decrypted
}

async function listParts(bytes: Uint8Array): Promise<readonly ZipEntry[] | undefined> {
  if (isCompoundFile(bytes)) return undefined
  // The library would accept any text as a table.
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) throw new ParseFailure('damaged')
  return rejectZipBomb(bytes)
}

function rowLimit(entries: readonly ZipEntry[]): number {
  const sheetBytes = entries
    .filter(({ name }) => /worksheets\//i.test(name))
    .reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  return sheetBytes > MAX_UNLIMITED_BYTES ? MAX_ROWS : 0
}

function open(bytes: Uint8Array, entries: readonly ZipEntry[] | undefined): WorkBook {
  try {
    return entries
      ? readParts(unpackParts(bytes, entries), { ...OPTIONS, type: 'array', sheetRows: rowLimit(entries) })
      : readOld(bytes)
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    throw new ParseFailure(isEncryptionError(error) ? 'encrypted' : 'damaged', { cause: error })
  }
}

function readOld(bytes: Uint8Array): WorkBook {
  try {
    return read(bytes, { ...OPTIONS, type: 'array' })
  } catch (error) {
    if (!isEncryptionError(error)) throw error
    return read(decrypt(bytes, decryptWorkbook), { ...OPTIONS, type: 'buffer' })
  }
}

const isEncryptionError = (error: unknown): boolean => error instanceof Error && /password|encrypt/i.test(error.message)

function contextOf(workbook: WorkBook, is1904: boolean, styles: string): Omit<CellContext, 'sheet'> {
  const sheets = workbook.SheetNames.map((name) => ({ name, cells: cellsOf(workbook.Sheets[name]) }))
  const names = (workbook.Workbook?.Names ?? []).flatMap(({ Name: name, Ref: formula, Sheet: sheet }) =>
    formula ? [{ name, formula, sheet: sheet ?? undefined }] : [],
  )
  const cells = sheets.flatMap((sheet) => sheet.cells.flatMap((row) => row?.filter((cell) => cell !== undefined) ?? []))
  const sample = cells.filter(({ t }) => t === 's').slice(0, SAMPLE_CELLS)
  return {
    is1904,
    locale: findEastAsianLocale(styles, sample.map(({ v }) => String(v)).join(' ')),
    formulas: createFormulas({ sheets, names, is1904 }),
    storesResults: cells.some((cell) => cell.f !== undefined && isStored(cell)),
  }
}

function readStyles(bytes: Uint8Array, entries: readonly ZipEntry[]): string {
  const entry = entries.find(({ name }) => name.toLowerCase() === STYLES)
  return entry ? new TextDecoder().decode(unpack(bytes, entry)) : ''
}

/** The library unpacks slowly and loops forever on some broken parts. */
function unpackParts(bytes: Uint8Array, entries: readonly ZipEntry[]): object {
  const parts = compoundFiles.utils.cfb_new()
  for (const entry of entries)
    if (!entry.name.endsWith('/') && !WITHOUT_CELLS.test(entry.name))
      compoundFiles.utils.cfb_add(parts, entry.name, preparePart(entry.name, unpack(bytes, entry)), { unsafe: true })
  // Some programs declare styles without writing them; the library then reads nothing.
  if (!entries.some(({ name }) => name.toLowerCase() === STYLES))
    compoundFiles.utils.cfb_add(parts, STYLES, Buffer.from(defineBuiltins('<styleSheet/>')), { unsafe: true })
  return parts
}

/** Rewrites what the library would read as values that the file does not hold. */
function preparePart(name: string, part: Uint8Array): Uint8Array {
  const isSheet = SHEET.test(name)
  if (!isSheet && name.toLowerCase() !== STYLES) return part
  const given = new TextDecoder().decode(part)
  const prepared = isSheet ? removeTypesWithoutValues(given) : defineBuiltins(given)
  return prepared === given ? part : Buffer.from(prepared)
}

function readAllTextBoxes(bytes: Uint8Array, entries: readonly ZipEntry[]): string[][] {
  const parts = new Map(entries.map((entry) => [entry.name, entry]))
  return readTextBoxes((part) => {
    const entry = parts.get(part)
    if (!entry || entry.uncompressedSize > MAX_DRAWING_BYTES) return ''
    try {
      return new TextDecoder().decode(unpack(bytes, entry))
    } catch (error) {
      if (error instanceof ParseFailure) throw error
      return ''
    }
  })
}

const cellsOf = (sheet: WorkSheet | undefined): SheetCells => sheet?.['!data'] ?? []

/** The library reports the sheet's full range before the row limit. */
const isRowLimited = (sheet: WorkSheet | undefined): boolean =>
  sheet?.['!fullref'] !== undefined && sheet['!fullref'] !== sheet['!ref']
