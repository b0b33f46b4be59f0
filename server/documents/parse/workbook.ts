import { read, set_cptable, type WorkBook, type WorkSheet } from '@e965/xlsx'
import * as codePages from '@e965/xlsx/dist/cpexcel.full.mjs'
import { sourceOfBytes } from '#server/documents/byte-source.ts'
import { isOleFile, oleStreamNames } from '#server/documents/ole.ts'
import { ParseFailure } from './failure.ts'
import { MAX_PAGES, type ParsedPart } from './page.ts'
import { refuseBomb } from './refuse-bomb.ts'
import { type SheetCells, writeSheet } from './sheet-text.ts'

/** Of workbooks that unpack to more than this, only so many rows of each sheet are read; 2 million cells are about 80 MB. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024
const MAX_ROWS = 100_000

/** Text of old workbooks is in the code page of the machine that wrote it. */
set_cptable(codePages)

/** Reads a workbook, old or new: each sheet is a page that begins with the sheet's name. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  const maxRows = await rowLimit(bytes)
  const workbook = open(bytes, maxRows)
  const sheets = workbook.SheetNames
  const is1904 = workbook.Workbook?.WBProps?.date1904 === true
  if (sheets.length > MAX_PAGES) throw new ParseFailure('too_large')
  yield { pages: sheets.length }
  for (const [index, name] of sheets.entries()) {
    // Charts and modules are listed as sheets and have no cells.
    const sheet = workbook.Sheets[name]
    const { text, headings, rows, columns, blocks, isCut } = writeSheet({
      name,
      cells: cellsOf(sheet),
      merges: sheet?.['!merges'] ?? [],
      is1904,
    })
    yield {
      page: index + 1,
      text,
      headings,
      blocks,
      rows,
      columns,
      ...(isCut || isShortened(sheet) ? { isCut: true } : {}),
      ...(text === '' ? { gap: 'blank' } : {}),
    }
  }
}

/** 0 for no limit. */
async function rowLimit(bytes: Uint8Array): Promise<number> {
  if (isOleFile(bytes)) {
    if ((await oleStreamNames(sourceOfBytes(bytes))).includes('encryptedpackage')) throw new ParseFailure('encrypted')
    return 0
  }
  // Any text would be taken for a table.
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) throw new ParseFailure('damaged')
  const entries = await refuseBomb(bytes)
  const sheetBytes = entries
    .filter(({ name }) => /worksheets\//i.test(name))
    .reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  return sheetBytes > MAX_WHOLE_BYTES ? MAX_ROWS : 0
}

function open(bytes: Uint8Array, sheetRows: number): WorkBook {
  try {
    return read(bytes, { type: 'array', dense: true, cellNF: true, cellHTML: false, sheetRows })
  } catch (error) {
    const isEncrypted = error instanceof Error && /password|encrypt/i.test(error.message)
    throw new ParseFailure(isEncrypted ? 'encrypted' : 'damaged', { cause: error })
  }
}

const cellsOf = (sheet: WorkSheet | undefined): SheetCells => sheet?.['!data'] ?? []

/** The library says how far the sheet went before its rows were limited. */
const isShortened = (sheet: WorkSheet | undefined): boolean =>
  sheet?.['!fullref'] !== undefined && sheet['!fullref'] !== sheet['!ref']
