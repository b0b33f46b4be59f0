/** The upload area of the welcome card (specification, sections 4.7, 2.9 and 5). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

const MEGABYTE = 1024 * 1024

let stage: Stage
let page: Page
let uploads = 0

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === '/api/documents') uploads += 1
  })
})
afterAll(() => stage.close())

const main = () => page.getByRole('main')
const zone = () => main().getByRole('button', { name: /files here/ })
const input = () => main().getByLabel('Files to upload')
const textFile = (name: string, size: number) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'a ') })

const drag = (kind: 'dragenter' | 'dragleave') =>
  zone().evaluate((element, type) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['x'], 'x.txt', { type: 'text/plain' }))
    element.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
  }, kind)

test('it is hidden until the first document is asked for', async () => {
  await page.getByText('Getting Started', { exact: true }).waitFor()
  expect(await zone().count()).toBe(0)
  await page.getByRole('button', { name: 'Upload your first document' }).click()
  await zone().getByText('Drag files here or tap to upload', { exact: true }).waitFor()
  await zone().getByText('Max file size: 25MB', { exact: true }).waitFor()
})

test('it says so while files are dragged over it', async () => {
  await drag('dragenter')
  await zone().getByText('Drop files here to upload', { exact: true }).waitFor()
  expect(await zone().getAttribute('data-dragging')).toBe('true')
  await drag('dragleave')
  await zone().getByText('Drag files here or tap to upload', { exact: true }).waitFor()
})

test('other types and more than 25 MB are refused in its own words, and nothing is sent', async () => {
  // From the disk: the browser would receive buffers of this size slowly.
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-upload-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const files = [path.join(folder, 'film.mp4'), path.join(folder, 'long.txt')]
  await Promise.all(files.map((file, index) => writeFile(file, Buffer.alloc(index * 25 * MEGABYTE + 1, 'a '))))
  await input().setInputFiles(files)
  await main()
    .getByText(/^File type must be one of .*\.pdf.*\.docx.*\.xlsx.*\.txt.*\.jpg.*\.png/)
    .waitFor()
  await main().getByText('File is larger than 26214400 bytes', { exact: true }).waitFor()
  await zone().waitFor()
  expect(uploads).toBe(0)
})

test('it is hidden again once files were accepted', async () => {
  await input().setInputFiles([textFile('notes.txt', 64)])
  await zone().waitFor({ state: 'detached' })
  expect(uploads).toBe(1)
  await page.getByText('2 of 4 steps').waitFor()
})
