/** Two installations below paths of one host: one proxy path is passed on, the other removed. */
import { createClient } from '@supabase/supabase-js'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { makePdf } from '#test/make-pdf.ts'
import { freePort, type PathProxy, startPathProxy } from '#test/path-proxy.ts'
import { pressButton } from '#test/press-button.ts'
import { ask, markedText, openBrowser, openPage } from './browser.ts'
import { freshAddress, PASSWORD, signUp } from './people.ts'

const PATHS = [
  { path: '/alcove', isRemoved: false },
  { path: '/team/second', isRemoved: true },
]

let proxy: PathProxy
let browser: Browser
const nodes: AlcoveProcess[] = []
const folders: Awaited<ReturnType<typeof createDataDir>>[] = []
const ports: number[] = []

beforeAll(async () => {
  for (const _ of PATHS) ports.push(await freePort())
  proxy = await startPathProxy(PATHS.map((given, index) => ({ ...given, port: ports[index] ?? 0 })))
  for (const [index, { path }] of PATHS.entries()) {
    const folder = await createDataDir()
    folders.push(folder)
    nodes.push(
      await startAlcove({
        DATA_DIR: folder.dataDir,
        PORT: String(ports[index]),
        PUBLIC_URL: `${proxy.url}${path}/`,
        TRUST_PROXY: '1',
        AUTH_AUTOCONFIRM: index === 0 ? 'true' : 'false',
        AUTH_MAIL_INTERVAL_S: '0',
      }),
    )
  }
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  for (const node of nodes) await node.end()
  for (const folder of folders) await folder.remove()
  await proxy.close()
})

const storedNames = (page: Page) =>
  page.evaluate(async () => [
    ...Object.keys(localStorage),
    ...Object.keys(sessionStorage),
    ...(await indexedDB.databases()).map(({ name = '' }) => name),
    ...((await navigator.locks.query()).held ?? []).map(({ name = '' }) => name),
  ])

const usedLinks = new Set<string>()

/** Awaits the link of the next mail, which a server without a mail server logs. */
async function nextLink(node: AlcoveProcess): Promise<string> {
  const newest = () => [...node.output().matchAll(/"link":"([^"]+)"/g)].at(-1)?.[1] ?? ''
  await expect.poll(() => newest() !== '' && !usedLinks.has(newest())).toBe(true)
  usedLinks.add(newest())
  return newest()
}

describe.each(PATHS.map(({ path, isRemoved }, index) => ({ path, isRemoved, index })))(
  'below $path',
  ({ path, index }) => {
    const at = (rest: string) => `${proxy.url}${path}${rest}`
    const node = () => nodes[index] ?? expect.fail('it did not start')

    test('says its public address, and serves with the path and without', async () => {
      expect(node().url).toBe(`${proxy.url}${path}`)
      for (const origin of [at(''), `http://127.0.0.1:${ports[index]}`, `http://127.0.0.1:${ports[index]}${path}`]) {
        expect((await fetch(`${origin}/healthz`)).status).toBe(200)
        expect(await (await fetch(`${origin}/config.json`)).json()).toMatchObject({ supabaseUrl: at('') })
      }
      const bare = await fetch(`http://127.0.0.1:${ports[index]}${path}?chat=1`, { redirect: 'manual' })
      expect([bare.status, bare.headers.get('location')]).toEqual([308, `${path}/?chat=1`])
      const lost = await fetch(at('/nowhere/at/all'))
      expect([lost.status, await lost.text()]).toEqual([404, expect.stringContaining(`src="${path}/assets/`)])
    })

    test('the official client works: mails, accounts, rows, files and live changes', async () => {
      const { supabaseAnonKey } = await node().config()
      const client = createClient(at(''), supabaseAnonKey, { auth: { persistSession: false } })
      onTestFinished(async () => {
        await client.removeAllChannels()
      })
      const email = freshAddress('client')
      await client.auth.signUp({ email, password: PASSWORD, options: { emailRedirectTo: at('/login') } })
      if (index === 1) {
        const link = await nextLink(node())
        expect(link).toMatch(new RegExp(`^${at('/auth/v1/verify')}\\?`))
        const pressed = await pressButton(link)
        expect(pressed.headers.get('location')).toMatch(new RegExp(`^${at('/login')}#access_token=`))
      }
      const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD })
      expect(error).toBeNull()
      const userId = data.user?.id ?? ''
      await client.auth.signInWithOtp({ email, options: { emailRedirectTo: `${proxy.url}/of-another-program/` } })
      expect(new URL(await nextLink(node())).searchParams.get('redirect_to')).toBe(at('/'))

      const { promise: changed, resolve } = Promise.withResolvers<unknown>()
      await new Promise<void>((ready) => {
        client
          .channel('of-this-test')
          .on('postgres_changes', { event: 'INSERT', schema: 'public', table: 'conversations' }, resolve)
          .on('system', {}, () => ready())
          .subscribe()
      })
      const row = { id: crypto.randomUUID(), uid: userId, title: 'Live', model_name: 'alcove-reader' }
      expect((await client.from('conversations').insert(row)).error).toBeNull()
      expect(await changed).toMatchObject({ new: { id: row.id } })

      const file = client.storage.from('documents')
      const key = `${userId}/note.txt`
      expect((await file.upload(key, new Blob(['kept'], { type: 'text/plain' }))).error).toBeNull()
      const signed = await file.createSignedUrl(key, 60)
      expect(signed.data?.signedUrl).toMatch(new RegExp(`^${at('/storage/v1/object/sign/')}`))
      expect(await (await fetch(signed.data?.signedUrl ?? '')).text()).toBe('kept')
    })

    test('the page signs in, reads a document, answers live and comes back after a reload', async () => {
      const { page, faults } = await openPage(browser, at('/'))
      const strays: string[] = []
      page.on('request', (request) => {
        const url = new URL(request.url())
        if (url.protocol.startsWith('http') && !url.pathname.startsWith(`${path}/`)) strays.push(url.href)
      })
      await page.waitForURL(at('/login'))
      if (index === 0) await signUp(page, freshAddress('reader'))
      else {
        await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
        await page.getByPlaceholder('Enter your email').fill(freshAddress('reader'))
        await page.getByPlaceholder('Enter your password').fill(PASSWORD)
        await page.getByRole('button', { name: 'Create account', exact: true }).click()
        await page.getByText('Follow it to complete your sign').waitFor()
        await page.goto(await nextLink(node()))
        await page.getByRole('button', { name: 'Confirm this address and sign in' }).click()
        await page.getByText('Chat History').waitFor()
      }
      expect(page.url()).toMatch(new RegExp(`^${at('/')}(\\?|$)`))
      await page.getByRole('button', { name: 'Upload your first document' }).click()
      const pdf = makePdf(['Rules.\nThe reading lamp burns until midnight.\nAfter that the warden trims it.'])
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'lamps.pdf', mimeType: 'application/pdf', buffer: pdf })
      await page.getByText('Ready').first().waitFor()
      await page.getByRole('button', { name: 'New chat' }).first().click()
      await ask(page, 'Who trims the reading lamp after midnight?')
      await page.getByText('Using your knowledge').waitFor()
      await page
        .getByRole('button', { name: /Source 1: lamps\.pdf/ })
        .first()
        .click()
      await expect.poll(() => markedText(page)).toContain('warden trims it')
      expect(new URL(page.url()).pathname).toBe(`${path}/`)
      await page.reload()
      await expect.poll(() => markedText(page)).toContain('warden trims it')
      const cookies = await page.context().cookies()
      expect(cookies.map((cookie) => [cookie.name, cookie.path])).toEqual([
        [`alcove-session${path.replaceAll('/', '.')}`, path],
      ])
      const names = await storedNames(page)
      expect(names.length).toBeGreaterThan(0)
      expect(names.filter((name) => !name.includes(`${path}:alcove-`))).toEqual([])
      await page.goto(at('/nowhere/at/all'))
      await page.getByRole('heading', { name: '404 Page Not Found' }).waitFor()
      await page.getByRole('link', { name: 'Back to your conversations' }).click()
      await page.getByText('Chat History').waitFor()
      expect(new URL(page.url()).pathname).toBe(`${path}/`)
      await page
        .getByRole('button', { name: /account/i })
        .last()
        .click()
      await page.getByText('Sign Out').click()
      await page.waitForURL(at('/login'))
      expect(await page.context().cookies()).toEqual([])
      expect([faults, strays, proxy.strays]).toEqual([[], [], []])
      await page.context().close()
    })
  },
)

test('whoever is signed in to one installation is not in the other one, in the same browser', async () => {
  const { page } = await openPage(browser, `${proxy.url}/alcove/login`)
  await signUp(page, freshAddress('apart'))
  await page.goto(`${proxy.url}/team/second/`)
  await page.waitForURL('**/team/second/login')
  await page.getByRole('heading', { name: 'Sign in to Alcove' }).waitFor()
  await page.goto(`${proxy.url}/alcove/`)
  await page.getByText('Chat History').waitFor()
})
