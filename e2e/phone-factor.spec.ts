/**
 * A phone as second factor: added in the users tab, requested at sign-in, with messages sent through the operator's
 * webhook.
 */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openPage } from './browser.ts'
import { createAccount, createGuardedAccount, freshAddress, PASSWORD } from './people.ts'
import { openStage, type Stage } from './stage.ts'

const message = z.object({ user: z.object({ phone: z.string() }), sms: z.object({ otp: z.string() }) })

let stage: Stage
let receiver: ReturnType<typeof serve>
const codes: string[] = []
const phones: string[] = []
beforeAll(async () => {
  const app = new Hono().post('/sms', async (context) => {
    const { user, sms } = message.parse(await context.req.json())
    phones.push(user.phone)
    codes.push(sms.otp)
    return context.json({})
  })
  receiver = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => receiver.once('listening', resolve))
  stage = await openStage({
    signedIn: false,
    environment: {
      AUTH_AUTOCONFIRM: 'true',
      // The default limit is one message per number and minute.
      RATE_LIMITS: 'off',
      AUTH_SMS_WEBHOOK: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/sms`,
      AUTH_SMS_WEBHOOK_SECRET: `v1,whsec_${Buffer.from('a key that both sides know of it').toString('base64')}`,
    },
  })
})
afterAll(async () => {
  await stage.close()
  receiver.close()
})

async function signIn(email: string): Promise<Page> {
  const { page } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByPlaceholder('Enter your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  return page
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const wrong = (code: string | undefined) => (code === '000000' ? '111111' : '000000')
const arrived = (page: Page) => page.getByText('Chat History').waitFor()

test('a phone is added with the code of a message and asked for at the next sign-in', async () => {
  const email = freshAddress('phone')
  await createAccount(stage.alcove, email)
  const page = await signIn(email)
  await arrived(page)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Users' }).click()
  await press(page, 'Add a phone')
  await page.getByLabel('Phone number with country code').fill('+49 171 1234567')
  await press(page, 'Send the code')
  await page.getByLabel('Six-digit code').fill(wrong(codes.at(-1)))
  await press(page, 'Add')
  await page.getByRole('alert').getByText('Invalid MFA Phone code entered').waitFor()
  expect(phones).toEqual(['491711234567'])
  await page.getByLabel('Six-digit code').fill(codes.at(-1) ?? '')
  await press(page, 'Add')
  await press(page, 'I have saved them')
  await page.getByRole('list', { name: 'Second factors' }).getByText('Phone ending in 567').waitFor()

  const next = await signIn(email)
  await next.getByText('A text message with six digits is sent to Phone ending in 567.').waitFor()
  expect(codes.length).toBe(1)
  await press(next, 'Send the code')
  await next.getByLabel('Six-digit code').fill(wrong(codes.at(-1)))
  await press(next, 'Continue')
  await next.getByRole('alert').getByText('Invalid MFA Phone code entered').waitFor()
  await next.getByLabel('Six-digit code').fill(codes.at(-1) ?? '')
  await press(next, 'Continue')
  await arrived(next)
})

test('whoever has an app too may choose the phone, and have another code sent', async () => {
  const email = freshAddress('both')
  const { client } = await createGuardedAccount(stage.alcove, email)
  const { data } = await client.auth.mfa.enroll({ factorType: 'phone', phone: '+4917100000', friendlyName: 'Nokia' })
  const factorId = data?.id ?? ''
  const challenge = await client.auth.mfa.challenge({ factorId, channel: 'sms' })
  const challengeId = challenge.data?.id ?? ''
  const verified = await client.auth.mfa.verify({ factorId, challengeId, code: codes.at(-1) ?? '' })
  expect(verified.error).toBe(null)

  const page = await signIn(email)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await press(page, 'Send a code to Nokia')
  await press(page, 'Send the code')
  await page.getByLabel('Six-digit code').waitFor()
  const sent = codes.length
  await press(page, 'Send another code')
  await expect.poll(() => codes.length).toBe(sent + 1)
  await page.getByRole('button', { name: 'Continue' }).waitFor()
  await page.getByLabel('Six-digit code').fill(codes.at(-1) ?? '')
  await press(page, 'Continue')
  await arrived(page)
})
