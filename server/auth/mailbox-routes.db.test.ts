import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { createMailboxRoutes } from './mailbox-routes.ts'
import { createMailbox } from './mail/mailbox.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

/** `fetch` sets the Host itself, so this goes below it. */
const statusWith = (path: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(`${service.url}${path}`, { headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.on('error', reject)
    sent.end()
  })

test('mails are listed newest first, with their links, to a person too', async () => {
  await service.newClient().auth.signUp({ email: 'first@example.test', password: PASSWORD })
  await service.newClient().auth.signUp({ email: 'second@example.test', password: PASSWORD })
  const mails = await service.mails()
  expect(mails.slice(0, 2).map(({ to }) => to)).toEqual(['second@example.test', 'first@example.test'])
  expect(mails[0]?.html).toContain((await service.linkFor('second@example.test')).replaceAll('&', '&amp;'))
  const page = await (await fetch(`${service.url}/mailbox`)).text()
  expect(page).toContain(`<a href="${(await service.linkFor('first@example.test')).replaceAll('&', '&amp;')}">`)
  expect(page).not.toMatch(/<script|<style|style=|onclick/)
  const css = await fetch(`${service.url}/mailbox.css`)
  expect(css.headers.get('content-type')).toContain('text/css')
})

test('what a mail says is shown as text', async () => {
  const letter = { subject: '<img src=x onerror=alert(1)>', text: '<b>"bold"</b>', html: '', linkAndCode: {} }
  await createMailbox(service.database).add('<i>@example.test', letter)
  const page = await (await fetch(`${service.url}/mailbox`)).text()
  expect(page).not.toMatch(/<img|<b>|<i>/)
})

test('the mailbox does not exist for a foreign name or behind a proxy', async () => {
  const { port } = new URL(service.url)
  for (const path of ['/mailbox.json', '/mailbox', '/mailbox.css']) {
    for (const host of [`localhost:${port}`, '127.0.0.1', `[::1]:${port}`, 'LOCALHOST']) {
      expect(await statusWith(path, { host })).toBe(200)
    }
    for (const host of ['evil.example.com', `localhost.evil.example.com:${port}`, '127.0.0.1.nip.io', '0.0.0.0']) {
      expect(await statusWith(path, { host })).toBe(404)
    }
    const added = ['x-forwarded-for', 'x-forwarded-host', 'X-Forwarded-Proto', 'forwarded', 'via', 'x-real-ip']
    const addedElsewhere = ['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-original-host', 'x-envoy-external-address', 'cdn-loop'] // prettier-ignore
    for (const name of [...added, ...addedElsewhere])
      expect(await statusWith(path, { [name]: '127.0.0.1' }), name).toBe(404)
  }
})

test('the mailbox does not exist behind a proxy that rewrites Host and adds nothing', async () => {
  const { port, hostname } = new URL(service.url)
  expect(await statusWith('/mailbox.json', { origin: `http://localhost:${port}` })).toBe(200)
  for (const origin of [
    'https://alcove.example',
    'http://localhost.evil.example',
    'http://127.0.0.1@evil.example',
    'null',
  ]) {
    expect(await statusWith('/mailbox.json', { origin })).toBe(404)
    expect(await statusWith('/mailbox.json', { referer: `${origin}/` })).toBe(404)
  }
  const socket = connect(Number(port), hostname).end('GET /mailbox.json HTTP/1.0\r\nHost: localhost\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 404/)
})

test('outside a local set-up, and for a request without a socket, there is no mailbox', async () => {
  const routes = createMailboxRoutes({ database: service.database, isLocalSetUp: false })
  expect((await routes.request('http://localhost/mailbox.json')).status).toBe(404)
  const local = createMailboxRoutes({ database: service.database, isLocalSetUp: true })
  expect((await local.request('http://localhost/mailbox.json', { headers: { host: 'localhost' } })).status).toBe(404)
})
