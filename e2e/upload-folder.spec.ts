/** Folders and many files: chosen or dropped, paused, cancelled, and sent on after a reload or a lost connection. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectToFolder } from '#test/fill-conversation.ts'
import type { CuttingProxy } from '#test/cutting-proxy.ts'
import { openShakyPage, openStage, type Stage, toastOf } from './stage.ts'

const COUNT = 60

let stage: Stage
let page: Page
let client: pg.Client
let folder: string
/** Uploads that a page began. */
let sent: number

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  client = await connectToFolder(stage.dataDir)
  folder = await mkdtemp(path.join(tmpdir(), 'alcove-folder-'))
  countSent(page)
})
afterAll(async () => {
  await client.end()
  await stage.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  sent = 0
  await page.unrouteAll()
  await page.reload()
  await openFiles()
})

const openFiles = (on = page) =>
  on.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
const library = (on = page) => on.getByRole('region', { name: 'Library' })
const choose = (where: string, on = page) => library(on).getByLabel('Folder to upload').setInputFiles(where)
const tray = (on = page) => on.getByRole('region', { name: 'Uploads' })
const listed = async () => {
  const { rows } = await client.query<{ name: string }>(
    `select folder || '/' || filename as name from documents order by 1`,
  )
  return rows.map(({ name }) => name)
}
const statesOf = async (name: string) => {
  const { rows } = await client.query<{ state: string; count: number }>(
    'select state, count(*)::int from documents where folder = $1 group by 1 order by 1',
    [name],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

let folders = 0

/** A folder of notes that no other folder has, also not that of an earlier try. */
async function makeFolder(count = COUNT): Promise<{ name: string; where: string }> {
  folders += 1
  const name = `Notes ${folders}`
  const where = path.join(folder, name)
  await mkdir(where)
  for (let n = 0; n < count; n += 1)
    await writeFile(path.join(where, `note ${n}.txt`), `Note ${n} of the folder ${name}: the lamp is number ${n}.`)
  return { name, where }
}

/** Lets this many uploads through; the next ones wait until they are let through. */
async function holdUploads(on: Page, passing: number): Promise<() => Promise<void>> {
  let left = passing
  const open = Promise.withResolvers<undefined>()
  await on.route('**/api/documents', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    left -= 1
    if (left < 0) await open.promise
    // The page may be gone.
    await route.continue().catch(() => undefined)
  })
  return async () => {
    open.resolve(undefined)
    await on.unroute('**/api/documents')
  }
}

/** The next answer about the pause never arrives. @returns resolves once the server has given it */
async function holdPauseAnswer(): Promise<{ given: Promise<unknown> }> {
  const given = Promise.withResolvers<undefined>()
  await page.route(
    '**/api/documents/queue',
    async (route) => {
      await route.fetch()
      given.resolve(undefined)
    },
    { times: 1 },
  )
  return { given: given.promise }
}

function countSent(on: Page): void {
  on.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === '/api/documents') sent += 1
  })
}

test('a chosen folder is taken with everything below it, and its files keep their path', async () => {
  const where = path.join(folder, 'Contracts')
  await mkdir(path.join(where, '2024', '.git'), { recursive: true })
  await writeFile(path.join(where, 'house rules.txt'), 'The warden trims the lamp.')
  await writeFile(path.join(where, 'copy of the rules.txt'), 'The warden trims the lamp.')
  await writeFile(path.join(where, '2024', 'lease.txt'), 'The rent is 900 a month.')
  await writeFile(path.join(where, '2024', 'film.mp4'), 'no film')
  await writeFile(path.join(where, '2024', '.git', 'notes.txt'), 'hidden')
  await writeFile(path.join(where, 'Thumbs.db'), 'hidden')
  await choose(where)
  await library()
    .getByText(/^File type must be one of/)
    .waitFor()
  await expect.poll(listed).toHaveLength(2)
  const names = await listed()
  expect(names[0]).toBe('Contracts/2024/lease.txt')
  // One of the two with the same bytes.
  expect(names[1]).toMatch(/^Contracts\/(house|copy of the) rules\.txt$/)
  const row = library().getByRole('region', { name: 'Files' }).getByRole('listitem').filter({ hasText: 'lease.txt' })
  await row.getByText('Contracts/2024', { exact: true }).waitFor()
})

/** Screen readers are told the same in another element. */
const summaryIn = (place: Locator, text: string | RegExp) => place.getByText(text, { exact: true }).last()

/** Drags the folder over the conversation and drops it, as a person would. */
async function dropOnPage(where: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const target = { x: 700, y: 400, data: { items: [], files: [where], dragOperationsMask: 1 } }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devtools.send('Input.dispatchDragEvent', { type, ...target })
  await devtools.detach()
}

test('a dropped folder too', async () => {
  const { name, where } = await makeFolder(3)
  await dropOnPage(where)
  await expect.poll(() => statesOf(name)).toEqual({ ready: 3 })
  await tray().getByRole('button', { name: '3 files ready' }).waitFor()
})

test('also one that is dropped before the page has the code that sends it', async () => {
  const { name, where } = await makeFolder(3)
  const dropped = Promise.withResolvers<undefined>()
  await page.route('**/assets/page-uploads-*.js', async (route) => {
    await dropped.promise
    await route.continue()
  })
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await dropOnPage(where)
  dropped.resolve(undefined)
  await expect.poll(() => statesOf(name)).toEqual({ ready: 3 })
  await tray().getByRole('button', { name: '3 files ready' }).waitFor()
})

test('a document whose reading is paused says so where it is opened', async () => {
  const { name, where } = await makeFolder(1)
  await choose(where)
  await expect.poll(() => statesOf(name)).toEqual({ ready: 1 })
  await client.query(`update documents set state = 'paused' where folder = $1`, [name])
  await page.reload()
  await openFiles()
  await library()
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByRole('button', { name: 'note 0.txt' })
    .first()
    .click()
  await page.getByText('The reading of this document is paused').waitFor()
  await page.getByRole('button', { name: 'Close document' }).click()
  await client.query('delete from documents where folder = $1', [name])
})

test('many files are paused, and go on after a reload, none sent twice, also when they are chosen again', async () => {
  const { name, where } = await makeFolder()
  const letThrough = await holdUploads(page, 20)
  await choose(where)
  await library()
    .getByText(/^\d+ of 60 read$/)
    .waitFor()
  await expect.poll(async () => Object.values(await statesOf(name)).reduce((sum, some) => sum + some, 0)).toBe(20)
  const { given } = await holdPauseAnswer()
  await library().getByRole('button', { name: 'Pause' }).click()
  await library().getByText('Paused', { exact: true }).waitFor()
  await given
  await page.reload()
  await letThrough()
  await tray().getByText('Paused', { exact: true }).waitFor()
  await tray().getByRole('button', { name: 'Resume' }).click()
  await expect.poll(() => statesOf(name), { timeout: 60_000 }).toEqual({ ready: COUNT })
  await tray()
    .getByRole('button', { name: /^\d+ files: \d+ ready$/ })
    .waitFor()
  // Three were on their way when the page was reloaded.
  expect(sent).toBeLessThanOrEqual(COUNT + 3)
  const { rows } = await client.query<{ count: number }>(
    `select count(distinct filename)::int as count from documents where folder = $1`,
    [name],
  )
  expect(rows[0]?.count).toBe(COUNT)
  await openFiles()
  sent = 0
  await choose(where)
  await summaryIn(library(), `${COUNT} files: ${COUNT} already in your library`).waitFor()
  expect(sent).toBe(0)
})

test('the rest is cancelled, and what was read stays', async () => {
  const letThrough = await holdUploads(page, 30)
  const { name, where } = await makeFolder()
  await choose(where)
  await expect.poll(() => statesOf(name)).toEqual({ ready: 30 })
  await library().getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alertdialog').getByText('30 files are not read yet', { exact: false }).waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the rest' }).click()
  await library().getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
  await letThrough()
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  expect(await statesOf(name)).toEqual({ ready: 30 })
  expect(await tray().count()).toBe(0)
})

/** Loses the connection when 25 files of a folder have arrived. @returns the name of the folder */
async function sendUntilDisconnected(shaky: Page, proxy: CuttingProxy): Promise<string> {
  const letThrough = await holdUploads(shaky, 25)
  const { name, where } = await makeFolder()
  await choose(where, shaky)
  await expect.poll(() => statesOf(name)).toEqual({ ready: 25 })
  proxy.refuse(true)
  proxy.cut()
  await letThrough()
  await library(shaky).getByText('Waiting for the connection', { exact: true }).waitFor()
  return name
}

test('the rest is cancelled while the connection is lost, and the server is told once it is back', async () => {
  const { page: shaky, proxy } = await openShakyPage(stage)
  try {
    await openFiles(shaky)
    const name = await sendUntilDisconnected(shaky, proxy)
    await library(shaky).getByRole('button', { name: 'Cancel' }).click()
    await shaky.getByRole('alertdialog').getByRole('button', { name: 'Cancel the rest' }).click()
    const removed = shaky.waitForResponse(
      (response) =>
        new URL(response.url()).pathname === '/api/documents/queue' && response.request().method() === 'DELETE',
    )
    proxy.refuse(false)
    expect((await removed).ok()).toBe(true)
    await summaryIn(library(shaky), /^\d+ files: \d+ ready$/).waitFor()
    expect(await toastOf(shaky).count()).toBe(0)
    const { name: next, where: there } = await makeFolder(2)
    await choose(there, shaky)
    await expect.poll(() => statesOf(next)).toEqual({ ready: 2 })
    expect(await statesOf(name)).toEqual({ ready: 25 })
  } finally {
    await proxy.close()
  }
})

test('a lost connection delays the rest, and a file whose answer was lost is not sent again', async () => {
  const { page: shaky, proxy } = await openShakyPage(stage)
  try {
    await openFiles(shaky)
    countSent(shaky)
    const name = await sendUntilDisconnected(shaky, proxy)
    proxy.refuse(false)
    await expect.poll(() => statesOf(name), { timeout: 60_000 }).toEqual({ ready: COUNT })
    await summaryIn(library(shaky), `${COUNT} files: ${COUNT} ready`).waitFor()
    // Three broke off, and may have been tried once more before the server was reached.
    expect(sent).toBeLessThanOrEqual(COUNT + 6)
  } finally {
    await proxy.close()
  }
})
