/** The people of a fuzz run: attackers, who are replaced often, and one who must not notice them. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Attacker } from './corpus.ts'

export interface Installation {
  readonly url: string
  readonly apikey: string
}

const session = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  user: z.object({ id: z.string() }),
})
const identified = z.object({ id: z.string() })
const uploaded = z.object({ documents: z.array(identified).min(1) })

/** @throws for an answer other than 2xx. */
export async function call(
  { url, apikey }: Installation,
  method: string,
  path: string,
  { token = apikey, body }: { token?: string; body?: unknown } = {},
): Promise<unknown> {
  const isForm = body instanceof FormData
  const response = await fetch(url + path, {
    method,
    headers: {
      apikey,
      authorization: `Bearer ${token}`,
      ...(isForm || body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
  return text === '' ? undefined : JSON.parse(text)
}

const fileOf = (text: string): FormData => {
  const form = new FormData()
  form.append('files', new Blob([text], { type: 'text/plain' }), 'lamp.txt')
  return form
}

/** Signs a new person up and gives them a conversation, a message, a document and a stored object with this text. */
export async function signUpPerson(installation: Installation, text: string): Promise<Attacker> {
  const email = `${randomUUID()}@example.test`
  const password = randomUUID()
  const opened = session.parse(await call(installation, 'POST', '/auth/v1/signup', { body: { email, password } }))
  const { access_token: token, refresh_token: refreshToken, user } = opened
  const asPerson = (method: string, path: string, body?: unknown) => call(installation, method, path, { token, body })
  const conversation = identified.parse(
    await asPerson('POST', '/api/conversations', { title: text, model_name: 'alcove-reader' }),
  )
  const message = identified.parse(
    await asPerson('POST', `/api/conversations/${conversation.id}/messages`, { content: text }),
  )
  const { documents } = uploaded.parse(await asPerson('POST', '/api/documents', fileOf(`${text} ${randomUUID()}`)))
  const objectKey = `${user.id}/lamp.txt`
  await asPerson('POST', `/storage/v1/object/documents/${objectKey}`, fileOf(`${text} in a file`))
  return {
    id: user.id,
    email,
    password,
    token,
    refreshToken,
    conversationId: conversation.id,
    messageId: message.id,
    documentId: documents[0]?.id ?? '',
    objectKey,
  }
}

/** Returns the person with a further session. */
export async function openSession(installation: Installation, person: Attacker): Promise<Attacker> {
  const { email, password } = person
  const opened = session.parse(
    await call(installation, 'POST', '/auth/v1/token?grant_type=password', { body: { email, password } }),
  )
  return { ...person, token: opened.access_token, refreshToken: opened.refresh_token }
}

/** Deletes the account with everything in it, unless an attack has ended its session or changed its password. */
export async function leave({ url, apikey }: Installation, { email, password, token }: Attacker): Promise<void> {
  const response = await fetch(`${url}/auth/v1/account/close`, {
    method: 'POST',
    headers: { apikey, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ confirmation: email, password }),
  })
  await response.text()
}
