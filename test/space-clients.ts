/** People of spaces as outside programs are: with the official client and `/api` of a running server. */
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { publicConfig } from '#contract/auth.ts'
import { documentRow, uploadAnswer } from '#contract/document.ts'
import { messageRow, type MessageRow } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { SpaceRole } from '#contract/space.ts'

export interface SignedUp {
  readonly id: string
  readonly email: string
  readonly client: SupabaseClient
  readonly token: string
}

export const WAIT_LIMIT = { timeout: 20_000, interval: 50 }
export const idRow = z.object({ id: z.uuid() })

let made = 0

/** @param address of the server that serves them */
export async function openSpaceClients(address: string) {
  const apikey = publicConfig.parse(await (await fetch(`${address}/config.json`)).json()).supabaseAnonKey

  async function signUp(name: string): Promise<SignedUp> {
    const email = `${name}.${(made += 1)}@example.test`
    const client = createClient(address, apikey, { auth: { persistSession: false } })
    const { data, error } = await client.auth.signUp({
      email,
      password: 'a long enough password',
      options: { data: { full_name: name } },
    })
    if (error || !data.session || !data.user) throw error ?? new Error('no session')
    return { id: data.user.id, email, client, token: data.session.access_token }
  }

  const call = (person: SignedUp | undefined, method: string, path: string, body?: unknown, signal?: AbortSignal) =>
    fetch(address + path, {
      method,
      headers: {
        ...(person ? { authorization: `Bearer ${person.token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })

  async function createSpace({ client }: SignedUp, name: string): Promise<string> {
    const inserted = await client.from('spaces').insert({ name, color: 'teal' }).select().single().throwOnError()
    return idRow.parse(inserted.data).id
  }

  async function join(owner: SignedUp, member: SignedUp, space: string, role: SpaceRole): Promise<void> {
    const invited = await call(owner, 'POST', `/api/spaces/${space}/invitations`, { email: member.email, role })
    expect(invited.status).toBe(202)
    const { data } = await member.client
      .from('space_invitations')
      .select('id')
      .eq('space_id', space)
      .single()
      .throwOnError()
    const accepted = await call(member, 'POST', `/api/invitations/${idRow.parse(data).id}/accept`, {})
    expect(accepted.status).toBe(200)
  }

  function upload(person: SignedUp, name: string, text: string, space?: string): Promise<Response> {
    const form = new FormData()
    form.append('files', new Blob([text], { type: 'text/plain' }), name)
    return fetch(`${address}/api/documents${space === undefined ? '' : `?space=${space}`}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${person.token}` },
      body: form,
    })
  }

  async function addDocument(person: SignedUp, name: string, text: string, space?: string): Promise<string> {
    const answer = await upload(person, name, text, space)
    expect(answer.status).toBe(201)
    const id = uploadAnswer.parse(await answer.json()).documents[0]?.id ?? ''
    await vi.waitFor(async () => {
      const row = documentRow.parse(await (await call(person, 'GET', `/api/documents/${id}`)).json())
      expect(row.state).toBe('ready')
    }, WAIT_LIMIT)
    return id
  }

  async function startConversation(
    { client }: SignedUp,
    space: string | null,
    modelName = 'alcove-reader',
  ): Promise<string> {
    const row = { model_name: modelName, title: 'Lamps', space_id: space }
    const inserted = await client.from('conversations').insert(row).select().single().throwOnError()
    return idRow.parse(inserted.data).id
  }

  /** @returns the position of the new question */
  async function askOnly(person: SignedUp, conversation: string, content: string, metadata = {}): Promise<number> {
    const asked = await person.client
      .from('messages')
      .insert({ conversation_id: conversation, content, sender_role: SENDER_ROLES.user, metadata })
      .select()
      .single()
      .throwOnError()
    return messageRow.parse(asked.data).position
  }

  /** Resolves with the answer to a new question. */
  async function ask(person: SignedUp, conversation: string, content: string, metadata = {}): Promise<MessageRow> {
    const position = await askOnly(person, conversation, content, metadata)
    return vi.waitFor(async () => {
      const answered = await person.client
        .from('messages')
        .select()
        .eq('conversation_id', conversation)
        .eq('sender_role', SENDER_ROLES.assistant)
        .gt('position', position)
        .single()
        .throwOnError()
      return messageRow.parse(answered.data)
    }, WAIT_LIMIT)
  }

  return { signUp, call, createSpace, join, upload, addDocument, startConversation, askOnly, ask }
}

export type SpaceClients = Awaited<ReturnType<typeof openSpaceClients>>
