/** Random histories of spaces: after each step, everybody reads of each table exactly what the model gives, and no more is written. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import type { SpaceRole } from '#contract/space.ts'
import { codeOf } from '#server/base/errors.ts'
import { createTestDatabase } from './database.ts'
import { createRandom, type Random } from './fuzz/random.ts'
import { addReadDocument } from './library.ts'
import { SpacesModel } from './spaces-model.ts'
import type { Person } from './spaces.ts'

const STEPS = 250
const SEEDS = [1, 2, 3, 4]
const PEOPLE = 5
const REFUSALS: readonly (string | undefined)[] = ['42501', 'PT404', 'PT409', '23514']
const ROLES: readonly SpaceRole[] = ['owner', 'editor', 'reader']

const VIEW = `
  select 'spaces ' || id as line from spaces
  union all select distinct 'space_events ' || space_id from space_events
  union all select 'members ' || space_id || ' ' || user_id || ' ' || role from space_members
  union all select 'invitations ' || id || ' ' || role from space_invitations
  union all select 'documents ' || id from documents
  union all select distinct 'pages ' || document_id from document_pages
  union all select 'index ' || document_id from document_index
  union all select distinct 'passages ' || document_id from passages
  union all select distinct 'vectors ' || document_id from passage_vectors
  union all select 'conversations ' || id from conversations
  union all select 'messages ' || id from messages
  union all select 'texts ' || message_id from message_texts
  union all select 'replies ' || message_id from replies
  union all select 'parts ' || (select message_id from replies r where r.id = reply_id) from reply_parts
  union all select 'links ' || id from share_links
  union all select 'feedback ' || message_id from message_feedback`

const db = await createTestDatabase()
afterAll(() => db.drop())

class History {
  readonly model = new SpacesModel()
  readonly #people = new Map<string, Person>()
  readonly #random: Random

  constructor(seed: number) {
    this.#random = createRandom(seed)
  }

  #pick<Item>(items: Iterable<Item>): Item | undefined {
    const all = [...items]
    return all.length === 0 ? undefined : this.#random.pick(all)
  }

  async addPerson(): Promise<void> {
    const person = await db.createPerson()
    this.#people.set(person.sub, person)
    this.model.people.add(person.sub)
  }

  /** Whether a statement of a person changed or returned a row. @throws for errors that are no refusal */
  async #does(actor: string, text: string, values: readonly unknown[]): Promise<boolean> {
    const claims = this.#people.get(actor)
    if (!claims) throw new Error('no such person')
    try {
      return await db.database.asUser(claims, async (scope) => ((await scope.query(text, values)).rowCount ?? 0) > 0)
    } catch (error) {
      if (REFUSALS.includes(codeOf(error))) return false
      throw error
    }
  }

  /** Takes a random step. @returns what was done, whether it succeeded, and whether it may */
  async step(): Promise<{ readonly did: string; readonly succeeded: boolean; readonly may: boolean } | undefined> {
    const actor = this.#pick(this.model.people) ?? ''
    const other = this.#pick(this.model.people) ?? ''
    const space = this.#pick(this.model.spaces.values())
    const document = this.#pick(this.model.documents.values())
    const conversation = this.#pick(this.model.conversations.values())
    const target = this.#pick([null, ...this.model.spaces.keys()]) ?? null
    const role = this.#pick(ROLES) ?? 'reader'
    const isOn = this.#random.chance(0.6)
    const given = { actor, other, target, role, isOn }
    const kind = this.#pick(KINDS) ?? 'createSpace'
    if (kind === 'createSpace') return this.#report(kind, await this.#createSpace(actor))
    if (kind === 'createConversation') return this.#report(kind, await this.#createConversation(given))
    if (kind === 'createDocument') return this.#report(kind, await this.#createDocument(given))
    if (kind === 'deleteAccount') return this.#report(kind, await this.#deleteAccount(actor))
    if (kind === 'answer') return this.#report(kind, await this.#answer(given))
    if (kind in OF_SPACES && space) return this.#report(kind, await this.#inSpace(kind, space, given))
    if (kind in OF_DOCUMENTS && document) return this.#report(kind, await this.#withDocument(kind, document, given))
    if (kind in OF_CONVERSATIONS && conversation)
      return this.#report(kind, await this.#withConversation(kind, conversation, given))
    return undefined
  }

  #report(did: string, [succeeded, may]: readonly [boolean, boolean]) {
    return { did, succeeded, may }
  }

  async #createSpace(actor: string): Promise<[boolean, boolean]> {
    const id = randomUUID()
    const succeeded = await this.#does(actor, `insert into spaces (id, name) values ($1, 'Lamps')`, [id])
    this.model.spaces.set(id, { id, isArchived: false, members: new Map([[actor, 'owner']]) })
    return [succeeded, true]
  }

  async #createConversation({ actor, target, isOn }: Given): Promise<[boolean, boolean]> {
    const id = randomUUID()
    const isShared = target !== null && isOn
    const succeeded = await this.#does(
      actor,
      `insert into conversations (id, model_name, space_id, is_shared) values ($1, 'alcove-reader', $2, $3)`,
      [id, target, isShared],
    )
    const may = target === null || this.model.has(actor, 'ask', target)
    if (may) this.model.conversations.set(id, { id, author: actor, space: target, isShared, questions: [] })
    return [succeeded, may]
  }

  /** People cannot insert documents; the server does so after it has asked for the right to edit. */
  async #createDocument({ actor, target }: Given): Promise<[boolean, boolean]> {
    const person = this.#people.get(actor)
    if (!person || (target !== null && !this.model.has(actor, 'edit', target))) return [false, false]
    const { documentId: id } = await addReadDocument(
      db.database,
      person,
      'lamp.txt',
      [`The lamp ${randomUUID()}.`],
      target,
    )
    await db.admin.query(
      `insert into passage_vectors select owner, 'model', document_id, passage, '1', '' from passages where document_id = $1`,
      [id],
    )
    this.model.documents.set(id, { id, owner: actor, space: target, isIndexed: true })
    return [true, true]
  }

  async #deleteAccount(actor: string): Promise<[boolean, boolean]> {
    await db.admin.query('delete from auth.users where id = $1', [actor])
    this.model.deleteAccount(actor)
    this.#people.delete(actor)
    await this.addPerson()
    return [true, true]
  }

  async #answer({ actor, isOn }: Given): Promise<[boolean, boolean]> {
    const invitation = this.#pick(this.model.invitations.values())
    if (!invitation) return [false, false]
    // Mostly the invited person, sometimes another.
    const isInvited = this.#people.has(invitation.person) && this.#random.chance(0.7)
    const person = isInvited ? invitation.person : actor
    const isAccepted = isOn || this.#random.chance(0.5)
    const succeeded = await this.#does(person, 'select answer_invitation($1, $2)', [invitation.id, isAccepted])
    const may = person === invitation.person
    if (may && isAccepted) this.model.join(invitation)
    else if (may) this.model.invitations.delete(invitation.id)
    return [succeeded, may]
  }

  async #inSpace(kind: string, space: ModelSpace, { actor, other, role, isOn }: Given): Promise<[boolean, boolean]> {
    const { model } = this
    const isOwner = model.has(actor, 'own', space.id)
    if (kind === 'invite') {
      const email = this.#people.get(other)?.email
      const succeeded = await this.#does(actor, 'select invite_to_space($1, $2, $3)', [space.id, email, role])
      if (isOwner && !space.members.has(other))
        await this.#noteInvitation({ space: space.id, person: other, role, actor })
      return [succeeded, isOwner]
    }
    if (kind === 'setRole') {
      const succeeded = await this.#does(
        actor,
        'update space_members set role = $3 where space_id = $1 and user_id = $2',
        [space.id, other, role],
      )
      const may = isOwner && space.members.has(other) && !(role !== 'owner' && model.isLastOwner(space.id, other))
      if (may) model.setRole(actor, space.id, other, role)
      return [succeeded, may]
    }
    if (kind === 'removeMember') {
      const person = isOn ? other : actor
      const succeeded = await this.#does(actor, 'delete from space_members where space_id = $1 and user_id = $2', [
        space.id,
        person,
      ])
      const may = space.members.has(person) && (isOwner || person === actor) && !model.isLastOwner(space.id, person)
      if (may) model.removeMember(actor, space.id, person)
      return [succeeded, may]
    }
    if (kind === 'instruct') {
      const text = 'update spaces set instructions = $2 where id = $1'
      return [await this.#does(actor, text, [space.id, role]), isOwner || model.has(actor, 'edit', space.id)]
    }
    if (kind === 'archive') {
      const succeeded = await this.#does(
        actor,
        'update spaces set archived_at = case when $2 then coalesce(archived_at, now()) end where id = $1',
        [space.id, isOn],
      )
      const may = isOwner || (model.has(actor, 'edit', space.id) && isOn === space.isArchived)
      if (may) space.isArchived = isOn
      return [succeeded, may]
    }
    const succeeded = await this.#does(actor, 'delete from spaces where id = $1', [space.id])
    if (isOwner) model.deleteSpace(space.id)
    return [succeeded, isOwner]
  }

  async #noteInvitation({ space, person, role, actor }: Invited): Promise<void> {
    const { rows } = await db.admin.query<{ id: string }>(
      'select i.id from space_invitations i join auth.users u on u.email = i.email where i.space_id = $1 and u.id = $2',
      [space, person],
    )
    const id = rows[0]?.id ?? ''
    this.model.invitations.set(id, { id, space, person, role, invitedBy: actor })
  }

  async #withDocument(kind: string, document: ModelDocument, { actor, target }: Given): Promise<[boolean, boolean]> {
    const edits = this.model.editsDocument(actor, document)
    if (kind === 'deleteDocument') {
      const succeeded = await this.#does(actor, 'delete from documents where id = $1', [document.id])
      if (edits) this.model.documents.delete(document.id)
      return [succeeded, edits]
    }
    if (kind === 'renameDocument') {
      const text = `update documents set filename = 'desk.txt' where id = $1`
      return [await this.#does(actor, text, [document.id]), edits]
    }
    const succeeded = await this.#does(actor, 'select move_document($1, $2)', [document.id, target])
    const may = edits && (target === null || this.model.has(actor, 'edit', target))
    if (may && (document.space ?? document.owner) !== (target ?? actor))
      Object.assign(document, { space: target, owner: target === null ? actor : document.owner, isIndexed: false })
    return [succeeded, may]
  }

  async #withConversation(
    kind: string,
    conversation: ModelConversation,
    { actor, target, isOn }: Given,
  ): Promise<[boolean, boolean]> {
    const { model } = this
    const { id } = conversation
    if (kind === 'ask') return this.#ask(actor, conversation)
    if (kind === 'share') {
      const text = 'update conversations set is_shared = $2 where id = $1'
      const succeeded = await this.#does(actor, text, [id, isOn])
      const may = model.changesConversation(actor, conversation) && !(isOn && conversation.space === null)
      if (may) model.placeConversation(conversation, { space: conversation.space, isShared: isOn })
      return [succeeded, may]
    }
    if (kind === 'unshare') {
      const succeeded = await this.#does(actor, 'select unshare_conversation($1)', [id])
      const may = model.unsharesConversation(actor, conversation)
      if (may) model.placeConversation(conversation, { space: conversation.space, isShared: false })
      return [succeeded, may]
    }
    if (kind === 'moveConversation') {
      const succeeded = await this.#does(actor, 'select move_conversation($1, $2)', [id, target])
      const may =
        conversation.author === actor &&
        model.readsConversation(actor, conversation) &&
        (target === null || model.has(actor, 'ask', target))
      if (may && target !== conversation.space)
        model.placeConversation(conversation, { space: target, isShared: false })
      return [succeeded, may]
    }
    if (kind === 'link') {
      const may = model.linksTo(actor, conversation)
      const succeeded = await this.#does(actor, 'select create_link($1, 1, false)', [id])
      if (may) await this.#noteLink(id, actor)
      return [succeeded, may]
    }
    if (kind === 'rate') return this.#rate(actor, conversation)
    const succeeded = await this.#does(actor, 'delete from conversations where id = $1', [id])
    const may = model.deletesConversation(actor, conversation)
    if (may) model.deleteConversation(id)
    return [succeeded, may]
  }

  async #ask(actor: string, conversation: ModelConversation): Promise<[boolean, boolean]> {
    const question = randomUUID()
    const succeeded = await this.#does(
      actor,
      `insert into messages (id, conversation_id, content, sender_role) values ($1, $2, 'Where?', 1)`,
      [question, conversation.id],
    )
    const may = this.model.asks(actor, conversation)
    if (may) {
      conversation.questions.push(question)
      await db.admin.query(`update replies set state = 'done' where message_id = $1`, [question])
      await db.admin.query(`insert into reply_parts select id, 1, 1, owner, '{}' from replies where message_id = $1`, [
        question,
      ])
    }
    return [succeeded, may]
  }

  async #rate(actor: string, conversation: ModelConversation): Promise<[boolean, boolean]> {
    const message = this.#pick(conversation.questions)
    const { feedback } = this.model
    if (message === undefined || feedback.some((given) => given.message === message && given.person === actor))
      return [false, false]
    const succeeded = await this.#does(actor, 'insert into message_feedback (message_id, rating) values ($1, 1)', [
      message,
    ])
    const may = this.model.readsConversation(actor, conversation)
    if (may) feedback.push({ message, conversation: conversation.id, person: actor })
    return [succeeded, may]
  }

  async #noteLink(conversation: string, createdBy: string): Promise<void> {
    const { rows } = await db.admin.query<{ id: string }>(
      'select id from share_links where conversation_id = $1 and created_by = $2',
      [conversation, createdBy],
    )
    for (const { id } of rows) this.model.links.set(id, { id, conversation, createdBy })
  }

  /** Lines that each person reads. */
  async readViews(): Promise<[person: string, lines: string[]][]> {
    return Promise.all(
      [...this.#people].map(async ([sub, claims]) => {
        const { rows } = await db.database.asUser(claims, (scope) => scope.query<{ line: string }>(VIEW), {
          readOnly: true,
        })
        return [sub, rows.map(({ line }) => line).sort()] as [string, string[]]
      }),
    )
  }
}

type ModelSpace = NonNullable<ReturnType<SpacesModel['spaces']['get']>>
type ModelDocument = NonNullable<ReturnType<SpacesModel['documents']['get']>>
type ModelConversation = NonNullable<ReturnType<SpacesModel['conversations']['get']>>
interface Given {
  readonly actor: string
  readonly other: string
  readonly target: string | null
  readonly role: SpaceRole
  readonly isOn: boolean
}
interface Invited {
  readonly space: string
  readonly person: string
  readonly role: SpaceRole
  readonly actor: string
}

/** How often each is tried. */
const OF_SPACES = { invite: 5, setRole: 2, removeMember: 3, instruct: 1, archive: 1, deleteSpace: 0.3 }
const OF_DOCUMENTS = { moveDocument: 3, renameDocument: 1, deleteDocument: 0.7 }
const OF_CONVERSATIONS = {
  ask: 4,
  share: 2,
  unshare: 1,
  moveConversation: 2,
  link: 2,
  rate: 2,
  deleteConversation: 0.7,
}
const SHARES: Readonly<Record<string, number>> = {
  createSpace: 1,
  createConversation: 2.5,
  createDocument: 2,
  deleteAccount: 0.3,
  answer: 5,
  ...OF_SPACES,
  ...OF_DOCUMENTS,
  ...OF_CONVERSATIONS,
}
const KINDS = Object.entries(SHARES).flatMap(([kind, share]) => Array.from({ length: share * 10 }, () => kind))

test.each(SEEDS)(
  'everybody reads and writes what the model gives, in the history %i',
  async (seed) => {
    const history = new History(seed)
    for (let person = 0; person < PEOPLE; person++) await history.addPerson()
    const tried = { succeeded: 0, refused: 0 }
    for (let step = 0; step < STEPS; step++) {
      const taken = await history.step()
      if (!taken) continue
      tried[taken.succeeded ? 'succeeded' : 'refused'] += 1
      expect(taken.succeeded, `step ${step}: ${taken.did}`).toBe(taken.may)
      for (const [person, lines] of await history.readViews())
        expect(lines, `step ${step}: ${taken.did}`).toEqual(history.model.view(person))
    }
    expect(Math.min(tried.succeeded, tried.refused)).toBeGreaterThan(STEPS / 6)
  },
  60_000,
)
