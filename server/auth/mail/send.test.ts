import { type AddressInfo, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { confirmationMail } from './templates.ts'
import { createMail } from './send.ts'

/** As much of a mail server as one mail needs; resolves `received` with what it was told. */
async function startMailServer() {
  const { promise: received, resolve } = Promise.withResolvers<string>()
  const server = createServer((socket: Socket) => {
    let heard = ''
    let isData = false
    socket.write('220 ready\r\n')
    socket.on('data', (chunk) => {
      heard += chunk.toString()
      if (isData && !heard.endsWith('\r\n.\r\n')) return
      if (isData) resolve(heard)
      isData = !isData && heard.endsWith('DATA\r\n')
      socket.write(isData ? '354 go on\r\n' : '250 ok\r\n')
    })
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, received }
}

const letter = confirmationMail({ link: 'https://alcove.example.com/verify?token=a&type=signup', code: '012345' })
const log = createLog('silent')

test('with SMTP_URL a letter reaches the mail server, as text and as HTML', async () => {
  const { port, received } = await startMailServer()
  const mail = createMail({ smtpUrl: `smtp://127.0.0.1:${port}`, from: 'Alcove <a@example.test>', mailbox: null, log })
  await mail.send('reader@example.test', letter)
  const heard = await received
  expect(heard).toContain('RCPT TO:<reader@example.test>')
  expect(heard).toContain('From: Alcove <a@example.test>')
  expect(heard).toContain('text/plain')
  expect(heard).toContain('text/html')
  expect(heard).toContain('012345')
})

test('a mail server that is not there is an error', async () => {
  const mail = createMail({ smtpUrl: 'smtp://127.0.0.1:1', from: 'a@example.test', mailbox: null, log })
  await expect(mail.send('reader@example.test', letter)).rejects.toThrow(/ECONNREFUSED/)
})

test('without a mail server the letter goes to the mailbox and its link to the log', async () => {
  const recipients: string[] = []
  const lines: unknown[] = []
  const listening = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const mailbox = { add: async (to: string) => void recipients.push(to), list: async () => [] }
  const mail = createMail({ smtpUrl: undefined, from: 'a@example.test', mailbox, log: listening })
  await mail.send('reader@example.test', letter)
  expect(recipients).toEqual(['reader@example.test'])
  expect(lines).toMatchObject([{ to: 'reader@example.test', link: letter.linkAndCode.link }])
})
