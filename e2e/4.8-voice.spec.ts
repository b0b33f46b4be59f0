/** Voice input with Chromium's fake microphone (specification, sections 4.8, 5, 7, 8). */
import { readFile } from 'node:fs/promises'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshAddress, signUp } from './people.ts'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

const FAKE_MICROPHONE = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream']
const TRANSCRIPT = 'this is the fixed transcript of the stub'
const NO_PROVIDER = 'Unable to connect to OpenAI services. Please try again later.'
const NO_TRANSCRIPT = 'Failed to transcribe audio. Please try again.'
/** The first bytes of every WebM file (EBML, RFC 8794). */
const WEBM = Buffer.from([0x1a, 0x45, 0xdf, 0xa3])

let stage: Stage
let page: Page
let errors: string[]

const speak = () => page.getByRole('button', { name: 'Speak your message' })
const stop = () => page.getByRole('button', { name: 'Stop recording' })
const busy = () => page.getByRole('button', { name: 'Turning speech into text' })
const savedRecordings = () => page.getByRole('group', { name: 'Recording' })
const tryAgain = () => savedRecordings().getByRole('button', { name: 'Try again' })

/** Opens a stage whose pages record every microphone track they receive. */
async function open(environment: Readonly<Record<string, string>>): Promise<void> {
  stage = await openStage({ switches: FAKE_MICROPHONE, environment })
  page = stage.page
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.addInitScript(() => {
    const tracks: MediaStreamTrack[] = []
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
    navigator.mediaDevices.getUserMedia = async (wishes) => {
      const stream = await ask(wishes)
      tracks.push(...stream.getTracks())
      return stream
    }
    Object.assign(window, { tracks })
  })
  await page.reload()
  await page.getByRole('button', { name: 'New chat' }).first().click()
}

/** States of the page's microphone tracks. */
const trackStates = (): Promise<string[]> =>
  page.evaluate(() => (window as unknown as { tracks: MediaStreamTrack[] }).tracks.map((track) => track.readyState))

/** The clock counts chunks; one arrives each second. */
const oneSecond = () => page.getByText('0:01', { exact: true }).waitFor()

async function record(): Promise<void> {
  await speak().click()
  await oneSecond()
  await stop().click()
}

/**
 * Number of WebM files in a download: each recording starts with the WebM signature, which occurs nowhere else in it.
 */
async function countFiles(path: string): Promise<number> {
  const bytes = await readFile(path)
  return Array.from(bytes.keys()).filter((at) => bytes.subarray(at, at + WEBM.length).equals(WEBM)).length
}

/** Number of stored rows: one per finished recording, one per second of a running one. */
const onDisk = (): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const opening = indexedDB.open('alcove-recordings', 1)
        opening.addEventListener('error', () => reject(new Error('no database')))
        opening.addEventListener('success', () => {
          const counting = opening.result.transaction('recordings').objectStore('recordings').count()
          counting.addEventListener('success', () => {
            opening.result.close()
            resolve(counting.result)
          })
        })
      }),
  )

beforeEach(() => {
  errors = []
})

describe('with a provider on the server', () => {
  // With open sign-up the key for browsers is withheld.
  beforeAll(() => open({ OPENAI_BROWSER_KEY: 'for browsers' }))
  afterAll(() => stage.close())

  test('the words that were spoken replace those that were typed', async () => {
    await stage.stub.configure({ sttdelay: 300 })
    await composerOf(page).fill('Typed before')
    await speak().click()
    await oneSecond()
    expect(await trackStates()).toEqual(['live'])
    const sent = page.waitForRequest('**/api/transcribe')
    await stop().click()
    await busy().waitFor()
    await expect.poll(() => busy().isDisabled()).toBe(true)
    await expect.poll(trackStates).toEqual(['ended'])
    await speak().waitFor()
    await expect.poll(() => composerOf(page).inputValue()).toBe(TRANSCRIPT)
    expect((await sent).headers()['content-type']).toContain('multipart/form-data')
    expect(errors).toEqual([])
    await expect.poll(() => savedRecordings().count()).toBe(0)
  })

  test('where no words come back, what was typed stays and the recording is offered', async () => {
    await composerOf(page).fill('Typed before')
    await page.route('**/api/transcribe', (route) => route.fulfill({ status: 503, body: 'busy' }))
    await record()
    await tryAgain().waitFor()
    await expect.poll(() => composerOf(page).inputValue()).toBe('Typed before')
    expect(errors).toContain(NO_PROVIDER)
    expect(errors).toContain(NO_TRANSCRIPT)
    await expect.poll(() => page.getByText(NO_TRANSCRIPT).count()).toBe(0)
    const download = page.waitForEvent('download')
    await savedRecordings().getByRole('button', { name: 'Save it' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('recording.webm')
    expect((await readFile(await file.path())).subarray(0, 4)).toEqual(WEBM)
  })

  test('the recording outlives another conversation and becomes text when it is tried again', async () => {
    await page.unrouteAll()
    await composerOf(page).fill('A question')
    await composerOf(page).press('Control+Enter')
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
    await tryAgain().click()
    await expect.poll(() => composerOf(page).inputValue()).toBe(TRANSCRIPT)
    await expect.poll(() => savedRecordings().count()).toBe(0)
  })

  test('a transcription that has not come after 60000 ms is given up', async () => {
    await stage.stub.configure({ sttdelay: 2_000 })
    await page.evaluate(() => {
      const timeout = AbortSignal.timeout.bind(AbortSignal)
      AbortSignal.timeout = (ms) => timeout(ms === 60_000 ? 50 : ms)
    })
    await composerOf(page).fill('Typed before')
    await record()
    await tryAgain().waitFor()
    expect(errors).toContain(NO_TRANSCRIPT)
    expect(await composerOf(page).inputValue()).toBe('Typed before')
    await savedRecordings().getByRole('button', { name: 'Discard recording' }).click()
    await expect.poll(onDisk).toBe(0)
    await stage.stub.configure({ sttdelay: 300 })
    await page.reload()
    await composerOf(page).waitFor()
  })

  test('leaving while recording lets the microphone go and keeps what was said', async () => {
    await speak().click()
    await oneSecond()
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await expect.poll(trackStates).not.toContain('live')
    await expect.poll(() => savedRecordings().count()).toBe(0)
    await page.goBack()
    await tryAgain().waitFor()
    await savedRecordings().getByRole('button', { name: 'Discard recording' }).click()
    await expect.poll(() => savedRecordings().count()).toBe(0)
  })

  test('while an answer is awaited the microphone is disabled', async () => {
    const finished = page.getByRole('button', { name: 'Good answer' })
    const known = await finished.count()
    await composerOf(page).fill('Slowly [[stub tokens=20 hold=0]]')
    await composerOf(page).press('Control+Enter')
    await page.getByPlaceholder('Waiting for AI response...').waitFor()
    await expect.poll(() => speak().isDisabled()).toBe(true)
    await stage.stub.release()
    await finished.nth(known).waitFor()
    await expect.poll(() => speak().isEnabled()).toBe(true)
  })

  test('a question from another tab leaves the recording to be stopped', async () => {
    const other = await page.context().newPage()
    await other.goto(page.url())
    await composerOf(other).fill('Slowly [[stub tokens=20 hold=0]]')
    await speak().click()
    await oneSecond()
    await composerOf(other).press('Control+Enter')
    await page.getByPlaceholder('Waiting for AI response...').waitFor()
    await stop().click()
    await expect.poll(trackStates).not.toContain('live')
    await expect.poll(() => composerOf(page).inputValue()).toBe(TRANSCRIPT)
    await page.getByPlaceholder('Waiting for AI response...').waitFor()
    await other.close()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByRole('button', { name: 'Send message' }).waitFor()
    expect(await composerOf(page).inputValue()).toBe(TRANSCRIPT)
  })

  test('a microphone that may not be used is only logged', async () => {
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    })
    await speak().click()
    await expect.poll(() => errors).toContain('Failed to access microphone. Please check your permissions.')
    await expect.poll(() => speak().isEnabled()).toBe(true)
    await expect.poll(() => page.getByText('Failed to access microphone').count()).toBe(0)
  })

  test('a browser without audio capture shows no microphone', async () => {
    await page.addInitScript(() => Reflect.deleteProperty(window, 'MediaRecorder'))
    await page.reload()
    await page.getByRole('button', { name: 'Send message' }).waitFor()
    await expect.poll(() => speak().count()).toBe(0)
  })

  test('the page may call no other host', async () => {
    const policy = (await fetch(stage.alcove.url)).headers.get('content-security-policy')
    expect(policy).not.toContain('openai')
  })
})

describe('a recording that has not become text', () => {
  beforeAll(async () => {
    await open({ OPENAI_BROWSER_KEY: 'for browsers', AUTH_AUTOCONFIRM: 'true' })
    await page.route('**/api/transcribe', (route) => route.fulfill({ status: 503, body: 'busy' }))
  })
  afterAll(() => stage.close())

  test('is offered again after a reload, in its conversation alone', async () => {
    await startChat(page, 'A question [[stub tokens=5]]')
    const address = page.url()
    await record()
    await tryAgain().waitFor()
    await expect.poll(onDisk).toBe(1)
    await page.reload()
    await tryAgain().waitFor()
    await page.goto(stage.alcove.url)
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await speak().waitFor()
    expect(await savedRecordings().count()).toBe(0)
    await page.goto(address)
    const download = page.waitForEvent('download')
    await savedRecordings().getByRole('button', { name: 'Save it' }).click()
    expect((await readFile(await (await download).path())).subarray(0, 4)).toEqual(WEBM)
  })

  test('is not shown to another person in the same browser, and is still there for the first', async () => {
    const address = page.url()
    const session = await page.evaluate(() => localStorage.getItem('alcove-session') ?? '')
    await page.evaluate(() => localStorage.removeItem('alcove-session'))
    await page.goto(`${stage.alcove.url}/login`)
    await signUp(page, freshAddress('next'))
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await speak().waitFor()
    await record()
    await tryAgain().waitFor()
    expect(await savedRecordings().count()).toBe(1)
    await expect.poll(onDisk).toBe(2)
    await page.getByRole('button', { name: 'Account', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign Out' }).click()
    await page.getByText('Use test account').waitFor()
    await expect.poll(onDisk).toBe(1)
    await page.evaluate((stored) => localStorage.setItem('alcove-session', stored), session)
    await page.goto(address)
    await tryAgain().waitFor()
    expect(await savedRecordings().count()).toBe(1)
  })

  test('leaves the disk with its words', async () => {
    await page.unroute('**/api/transcribe')
    await tryAgain().click()
    await expect.poll(() => composerOf(page).inputValue()).toBe(TRANSCRIPT)
    await expect.poll(onDisk).toBe(0)
  })

  test('is on the disk while it is being transcribed, and leaves it when it is discarded', async () => {
    await page.route('**/api/transcribe', () => new Promise(() => undefined))
    await record()
    await busy().waitFor()
    await expect.poll(onDisk).toBe(1)
    await page.reload()
    await tryAgain().waitFor()
    await savedRecordings().getByRole('button', { name: 'Discard recording' }).click()
    await expect.poll(onDisk).toBe(0)
    await page.reload()
    await speak().waitFor()
    expect(await savedRecordings().count()).toBe(0)
  })

  test('leaves the disk with its conversation', async () => {
    await page.unroute('**/api/transcribe')
    await page.route('**/api/transcribe', (route) => route.fulfill({ status: 503, body: 'busy' }))
    await startChat(page, 'Another question [[stub tokens=5]]')
    await record()
    await tryAgain().waitFor()
    await expect.poll(onDisk).toBe(1)
    await page
      .getByRole('button', { name: /^Delete / })
      .first()
      .press('Enter')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect.poll(onDisk).toBe(0)
  })

  test('is offered on the return to a page that was closed while it was made', async () => {
    await page.unroute('**/api/transcribe')
    const id = await startChat(page, 'A third question [[stub tokens=5]]')
    const context = page.context()
    await speak().click()
    await expect.poll(onDisk).toBeGreaterThan(1)
    await page.close()
    page = await context.newPage()
    await page.goto(`${stage.alcove.url}/?chat=${id}`)
    const download = page.waitForEvent('download')
    await savedRecordings().getByRole('button', { name: 'Save it' }).click()
    const path = await (await download).path()
    expect(await countFiles(path)).toBe(1)
    const sent = page.waitForRequest('**/api/transcribe')
    await tryAgain().click()
    await expect.poll(() => composerOf(page).inputValue()).toBe(TRANSCRIPT)
    expect(Number(await (await sent).headerValue('content-length'))).toBeGreaterThan((await readFile(path)).length)
    await expect.poll(onDisk).toBe(0)
    await page.reload()
    await speak().waitFor()
    expect(await savedRecordings().count()).toBe(0)
  })

  test('is offered to no other tab while it is made, and never mixed with what is said there', async () => {
    const first = page
    const address = first.url()
    await speak().click()
    await expect.poll(onDisk).toBeGreaterThan(1)
    page = await first.context().newPage()
    await page.goto(address)
    await speak().click()
    await page.getByText('0:02', { exact: true }).waitFor()
    expect(await savedRecordings().count()).toBe(0)
    await page.close()
    page = first
    await page.reload()
    await savedRecordings().nth(1).waitFor()
    for (const recording of await savedRecordings().all()) {
      const download = page.waitForEvent('download')
      await recording.getByRole('button', { name: 'Save it' }).click()
      expect(await countFiles(await (await download).path())).toBe(1)
    }
    await savedRecordings().first().getByRole('button', { name: 'Discard recording' }).click()
    await savedRecordings().first().getByRole('button', { name: 'Discard recording' }).click()
    await expect.poll(onDisk).toBe(0)
  })

  test('whoever leaves the page while speaking is asked first', async () => {
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await page.reload()
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await speak().click()
    await oneSecond()
    expect(asked).toEqual([])
    await page.reload()
    expect(asked).toEqual(['beforeunload'])
  })
})

describe('with a key for browsers', () => {
  beforeAll(() => open({ OPENAI_BROWSER_KEY: 'for browsers', AUTH_SIGNUP: 'closed' }))
  afterAll(() => stage.close())

  test('the browser asks the provider itself where the server cannot', async () => {
    let asked: Request | undefined
    await page.route('**/api/transcribe', (route) => route.fulfill({ status: 503, body: 'busy' }))
    await page.evaluate(() => {
      const send = window.fetch.bind(window)
      window.fetch = (input, init) => {
        if (init?.body instanceof FormData && init.body.has('model'))
          Object.assign(window, { asked: [...init.body.entries()] })
        return send(input, init)
      }
    })
    await page.route('https://api.openai.com/**', (route) => {
      asked = route.request()
      return route.fulfill({ json: { text: 'Heard by the provider' }, headers: { 'access-control-allow-origin': '*' } })
    })
    await record()
    await expect.poll(() => composerOf(page).inputValue()).toBe('Heard by the provider')
    expect(asked?.url()).toBe('https://api.openai.com/v1/audio/transcriptions')
    expect(asked?.headers()['authorization']).toBe('Bearer for browsers')
    const form = await page.evaluate(() =>
      (window as unknown as { asked: [string, unknown][] }).asked.map(([name, value]) =>
        value instanceof File ? `${name} ${value.name}` : `${name} ${String(value)}`,
      ),
    )
    expect(form).toEqual(expect.arrayContaining(['model whisper-1', 'file recording.webm']))
    expect(errors).not.toContain(NO_TRANSCRIPT)
  })

  test('it is the only other host that the page may call', async () => {
    const { host } = new URL(stage.alcove.url)
    const policy = (await fetch(stage.alcove.url)).headers.get('content-security-policy')
    expect(policy).toContain(
      `connect-src 'self' ws://${host} wss://${host} https://api.openai.com wss://api.openai.com;`,
    )
  })
})
