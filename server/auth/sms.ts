/** Text messages by the operator's webhook: Supabase's SMS hook, signed as Standard Webhooks (HMAC-SHA256). */
import { createHmac, randomUUID } from 'node:crypto'
import { boundedFetch } from './providers/bounded-fetch.ts'

export interface SmsWebhook {
  readonly address: string
  /** `v1,whsec_` and the key in base64. */
  readonly secret: string
}

/** @throws Error if the receiver does not accept the message in time. */
export async function sendSms(
  { address, secret }: SmsWebhook,
  { userId, phone, code }: { userId: string; phone: string; code: string },
): Promise<void> {
  const body = JSON.stringify({ user: { id: userId, phone }, sms: { otp: code } })
  const id = `msg_${randomUUID()}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(secret.replace(/^v1,whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const response = await boundedFetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  })
  if (!response.ok) throw new Error(`The webhook for text messages answered with status ${response.status}.`)
}
