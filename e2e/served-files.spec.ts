/** Stored files share the origin of the page: in a browser none of them is a page, script, style or worker of it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

const SCRIPT = 'globalThis.ran = true; self.postMessage?.("ran")'
const CODE_TYPES = [
  'text/javascript',
  'application/javascript',
  'module/javascript',
  'application/json',
  'text/plain',
  'application/octet-stream',
  'image/png',
  'text/plain;, text/javascript',
]
const PAGE_TYPES = [
  'text/html',
  'application/pdf;, text/html',
  'application/xhtml+xml',
  'image/svg+xml',
  'text/xml',
  'multipart/x-mixed-replace; boundary=x',
  'text/plain, text/html',
]
const HTML = `<!doctype html><title>Sign in</title><form action="/api/conversations" method="post" enctype="text/plain">
  <input name='{"model_name":"alcove-reader","a":"' value='"}'><button>Go on</button></form><script>${SCRIPT}</script>`

let stage: Stage
let page: Page
const urls = new Map<string, string>()

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  const { storage } = await stage.connectOperator()
  expect((await storage.createBucket('any', { public: true })).error).toBeNull()
  const files = storage.from('any')
  const store = async (key: string, contentType: string, body: string) => {
    expect((await files.upload(key, body, { contentType })).error).toBeNull()
    urls.set(key, files.getPublicUrl(key).data.publicUrl)
  }
  for (const type of CODE_TYPES) await store(`code ${CODE_TYPES.indexOf(type)}`, type, SCRIPT)
  for (const type of PAGE_TYPES) await store(`page ${PAGE_TYPES.indexOf(type)}`, type, HTML)
  await store('style', 'text/css', 'body { outline: 7px solid red }')
})
afterAll(() => stage.close())

const urlOf = (key: string) => urls.get(key) ?? ''

test('a file with a page in it is saved, and opens no page', async () => {
  for (const [index, type] of PAGE_TYPES.entries()) {
    const tab = await page.context().newPage()
    const saved = tab.waitForEvent('download')
    await tab.goto(urlOf(`page ${index}`)).catch((error: unknown) => {
      expect(String(error)).toContain('Download is starting')
    })
    expect((await saved).suggestedFilename(), type).toBe(`page ${index}`)
    expect(tab.url()).toBe('about:blank')
    await tab.close()
  }
})

test('no file runs or styles anything in our own page', async () => {
  const attempts = await page.evaluate(
    async ({ codes, style }) => {
      const load = (tag: 'script' | 'link', attributes: Record<string, string>) =>
        new Promise<string>((resolve) => {
          const element = Object.assign(document.createElement(tag), attributes)
          element.onload = () => resolve('loaded')
          element.onerror = () => resolve('refused')
          document.head.append(element)
        })
      const work = (start: () => Worker | MessagePort) =>
        new Promise<string>((resolve) => {
          const worker = start()
          worker.onmessage = () => resolve('loaded')
          if (worker instanceof Worker) worker.onerror = () => resolve('refused')
        })
      const attempt = (promise: Promise<unknown>) =>
        promise.then(
          () => 'loaded',
          () => 'refused',
        )
      const tried: string[] = []
      for (const code of codes) {
        tried.push(
          await load('script', { src: code }),
          await load('script', { src: code, type: 'module' }),
          await work(() => new Worker(code)),
          await attempt(navigator.serviceWorker.register(code, { scope: new URL('.', code).href })),
          await attempt(new AudioContext().audioWorklet.addModule(code)),
        )
      }
      tried.push(await load('link', { rel: 'stylesheet', href: style }))
      return {
        tried: [...new Set(tried)],
        ran: 'ran' in globalThis,
        isStyled: getComputedStyle(document.body).outlineWidth === '7px',
      }
    },
    { codes: CODE_TYPES.map((_, index) => urlOf(`code ${index}`)), style: urlOf('style') },
  )
  expect(attempts).toEqual({ tried: ['refused'], ran: false, isStyled: false })
})

test('an image is shown', async () => {
  const { storage } = await stage.connectOperator()
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  await storage.from('any').upload('pixel.png', pixel, { contentType: 'image/png' })
  const width = await page.evaluate(async (src) => {
    const image = Object.assign(new Image(), { src })
    await image.decode()
    return image.naturalWidth
  }, storage.from('any').getPublicUrl('pixel.png').data.publicUrl)
  expect(width).toBe(1)
})
