/** People with a second factor, set up through the official client as any program would. */
import { createClient } from '@supabase/supabase-js'
import { TOTP } from 'otpauth'
import { type AlcoveProcess } from '#test/alcove.ts'

export const PASSWORD = 'a long enough password'

export async function createAccount(alcove: AlcoveProcess, email: string) {
  const client = createClient(alcove.url, (await alcove.config()).supabaseAnonKey, { auth: { persistSession: false } })
  const { error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error) throw error
  return client
}

/** The code that an authenticator app would show after the last one that was used. */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })

/** An account whose second factor was verified a moment ago, with its secret and its recovery codes. */
export async function createGuardedAccount(alcove: AlcoveProcess, email: string) {
  const client = await createAccount(alcove, email)
  const enrolled = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'my phone' })
  if (enrolled.error) throw enrolled.error
  const { id: factorId, totp } = enrolled.data
  const verified = await client.auth.mfa.challengeAndVerify({ factorId, code: codeOf(totp.secret, -1) })
  if (verified.error) throw verified.error
  const answer = await fetch(`${alcove.url}/auth/v1/recovery-codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${verified.data.access_token}` },
  })
  const { codes } = (await answer.json()) as { codes: string[] }
  return { client, secret: totp.secret, codes }
}

/** The newest mail to an address: its link, and the six digits in it. */
export async function newestMail(alcove: AlcoveProcess, to: string): Promise<{ link: string; code: string }> {
  const mails = (await (await fetch(`${alcove.url}/mailbox.json`)).json()) as { to: string; text: string }[]
  const text = mails.find((mail) => mail.to === to)?.text ?? ''
  return { link: /http\S+/.exec(text)?.[0] ?? '', code: /enter (\d{6})/.exec(text)?.[1] ?? '' }
}
