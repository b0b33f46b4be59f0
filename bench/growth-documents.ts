/** Opening a citation near the end of a large document, against the same in a small one of its kind. */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Page } from 'playwright-core'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { connectToFolder } from '#test/fill-conversation.ts'
import { makeSheetText } from '#test/make-sheet-text.ts'
import { openPage } from './growth-page.ts'
import { withoutTriggers } from './growth-rows.ts'
import { makeLongPdf } from './long-pdf.ts'
import { inTurn, median, rounded } from './measure.ts'
import { openChromium, signIn } from './page-chromium.ts'
import { startSignedIn } from './signed-in.ts'
import { watchLibrary, type WatchedLibrary } from './watched-library.ts'

const VISITS = 7
const SECTION = 'The night is long. '.repeat(155)
/** Share of the rows, sections or pages that come before the cited one. */
const DEPTH = 0.8

interface Cited {
  readonly documentId: string
  readonly filename: string
  readonly page: number
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Stored {
  readonly admin: pg.Client
  readonly owner: string
}

/** A document without bytes or index, as if it had been read. */
async function insertDocument({ admin, owner }: Stored, name: string, type: string, pages: number): Promise<string> {
  const id = randomUUID()
  await admin.query(
    `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state, pages, pages_done, parsed_at, series, library)
     values ($1::text::uuid, $2, $3, $3, $4, 1, $1, $1, 'ready', $5, $5, now(), $1::text::uuid, $2)`,
    [id, owner, name, type, pages],
  )
  return id
}

/** A workbook of one sheet; the passage is a row. */
async function insertSheet(stored: Stored, count: number): Promise<Cited> {
  const filename = `lamps ${count}.xlsx`
  const { text, rows } = makeSheetText(count)
  const documentId = await insertDocument(stored, filename, UPLOAD_TYPES.xlsx, 1)
  await stored.admin.query(
    `insert into document_pages (document_id, owner, page, text, rows, columns) values ($1, $2, 1, $3, $4, '[1, 2, 3]')`,
    [documentId, stored.owner, text, JSON.stringify(rows)],
  )
  const [start] = rows[Math.floor(count * DEPTH)] ?? [0]
  const end = text.indexOf('\n', start)
  return { documentId, filename, page: 1, start, end, text: text.slice(start, end) }
}

/** A text of sections of 3,000 characters; the passage is the first sentence of one. */
async function insertText(stored: Stored, sections: number): Promise<Cited> {
  const filename = `keepers ${sections}.txt`
  const documentId = await insertDocument(stored, filename, UPLOAD_TYPES.txt, sections)
  await stored.admin.query(
    `insert into document_pages (document_id, owner, page, text)
     select $1, $2, n, format('The keeper of section %s trims the lamp.', n) || E'\n\n' || $3 from generate_series(1, $4::int) n`,
    [documentId, stored.owner, SECTION, sections],
  )
  const page = Math.ceil(sections * DEPTH)
  const text = `The keeper of section ${page} trims the lamp.`
  return { documentId, filename, page, start: 0, end: text.length, text }
}

/** All pages are children of one node, so that PDF.js reads each to find one. The passage is the first line of a page. */
async function uploadPdf({ admin }: Stored, library: WatchedLibrary, pages: number): Promise<Cited> {
  const [uploaded] = await library.uploadAll(
    [{ name: `report ${pages}.pdf`, bytes: makeLongPdf(pages, pages * 100) }],
    1,
  )
  const { id: documentId, filename } = await library.ended(uploaded?.id ?? '')
  const page = Math.ceil(pages * DEPTH)
  const { rows } = await admin.query<{ text: string }>(
    `select split_part(text, E'\n', 1) as text from document_pages where document_id = $1 and page = $2`,
    [documentId, page],
  )
  const text = rows[0]?.text ?? ''
  return { documentId, filename, page, start: 0, end: text.length, text }
}

/** Returns the id of a conversation with an answer that cites the passage. */
async function insertAnswer({ admin, owner }: Stored, source: Cited): Promise<string> {
  const id = randomUUID()
  await admin.query(`insert into conversations (id, uid, title, model_name) values ($1, $2, $3, 'alcove-reader')`, [
    id,
    owner,
    source.filename,
  ])
  await admin.query(
    `insert into messages (conversation_id, content, sender_role, metadata) values ($1, 'It is there [1].', 2, $2)`,
    [id, JSON.stringify({ sources: [{ n: 1, score: 1, ...source }] })],
  )
  return id
}

/** Milliseconds from the click on a citation, in a page that was just loaded, until its passage is marked and painted. */
async function openCitation(page: Page, address: string): Promise<number> {
  await page.goto(address)
  const citation = page.locator('[data-citation="1"]').first()
  await citation.waitFor()
  const waiting = await page.evaluateHandle(() => ({
    shown: window.paintedAfter?.('click', () => [...CSS.highlights.values()].some(({ size }) => size > 0)),
  }))
  await citation.click()
  return (await waiting.evaluate(({ shown }) => shown)) ?? Number.NaN
}

export async function measureDocuments(): Promise<Record<string, unknown>> {
  const session = await startSignedIn({ RATE_LIMITS: 'off' })
  const stored = { admin: await connectToFolder(session.dataDir), owner: session.userId }
  const library = await watchLibrary(session, await session.open())
  const kinds: Readonly<Record<string, { insert: (size: number) => Promise<Cited>; large: number; small: number }>> = {
    sheet: { insert: (rows) => insertSheet(stored, rows), large: 100_000, small: 100 },
    text: { insert: (sections) => insertText(stored, sections), large: 8_700, small: 10 },
    pdf: { insert: (pages) => uploadPdf(stored, library, pages), large: 4_000, small: 5 },
  }
  const browser = await openChromium()
  const page = await openPage(browser)
  await page.goto(session.alcove.url)
  await signIn(page)
  const figures: Record<string, unknown> = {}
  for (const [kind, { insert, large, small }] of Object.entries(kinds)) {
    const visit = async (size: number) => {
      const source = await insert(size)
      let chat = ''
      await withoutTriggers(stored.admin, async () => {
        chat = await insertAnswer(stored, source)
      })
      return () => openCitation(page, `${session.alcove.url}/?chat=${chat}`)
    }
    const [ofLarge, ofSmall] = [await visit(large), await visit(small)]
    await ofSmall()
    const { ours, baseline } = await inTurn(VISITS, ofLarge, ofSmall)
    figures[kind] = {
      openedMs: rounded(median(ours), 0),
      openedMsOfSmall: rounded(median(baseline), 0),
      ratio: rounded(median(ours) / median(baseline)),
    }
  }
  await stored.admin.end()
  await browser.close()
  await session.close()
  return figures
}
