/** Spaces: documents and conversations that several people share. Rows are read and written through `/rest/v1`. */
import { z } from 'zod'
import { messageRow } from './message.ts'
import { personalProvider } from './provider.ts'
import { source } from './source.ts'

export const spaceRole = z.enum(['owner', 'editor', 'reader'])
export type SpaceRole = z.infer<typeof spaceRole>

/** Limits a list or a search: to a space, or to what belongs to none. */
export const chosenSpace = z.union([z.literal('personal'), z.uuid()])
export type ChosenSpace = z.infer<typeof chosenSpace>

export const MAX_SPACE_NAME_CHARACTERS = 100

/** Prefix of the private channel of a space, in which the server names the account of each presence as `user`. */
export const SPACE_TOPIC = 'space:'

/** A row of `spaces`. */
export const spaceRow = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Sent to the model with every question in the space. */
  instructions: z.string(),
  /** Name of a colour; pages show unknown ones in grey. */
  color: z.string(),
  default_model: z.string().nullable(),
  created_by: z.uuid().nullable(),
  created_at: z.string(),
  /** An archived space can only be read. */
  archived_at: z.string().nullable(),
})

/** A row of the function `space_people`. */
export const spacePerson = z.object({
  user_id: z.uuid(),
  name: z.string(),
  email: z.string().nullable(),
  role: spaceRole,
  added_at: z.string(),
})
export type SpacePerson = z.infer<typeof spacePerson>

/** A row of `space_invitations`, as owners see it. */
export const spaceInvitation = z.object({
  id: z.uuid(),
  space_id: z.uuid(),
  email: z.string(),
  role: spaceRole,
  expires_at: z.string(),
})
export type SpaceInvitation = z.infer<typeof spaceInvitation>

/** A row of the function `received_invitations`. */
export const receivedInvitation = z.object({
  id: z.uuid(),
  space_id: z.uuid(),
  space_name: z.string(),
  color: z.string(),
  role: spaceRole,
  /** Name of the person; null once the account is gone. */
  invited_by: z.string().nullable(),
  documents: z.int(),
  members: z.int(),
  expires_at: z.string(),
})
export type ReceivedInvitation = z.infer<typeof receivedInvitation>

/** Body of `POST /api/spaces/{id}/invitations`, whose answer is the same for every address. */
export const newInvitation = z.object({ email: z.email().max(320), role: spaceRole })

/** Body of `POST /api/documents/{id}/move` and `…/copy`, and of both for `/api/conversations/{id}`; null: out of its space. */
export const spaceMove = z.object({ space: z.uuid().nullable() })

/** A provider of models that owners have put into a space. Its key is never shown. */
export const spaceProvider = personalProvider
  .pick({ id: true, kind: true, name: true, base_url: true, created_at: true })
  .extend({ space_id: z.uuid() })
export type SpaceProvider = z.infer<typeof spaceProvider>

/** Answer of `DELETE /api/spaces/{id}`: deleted rows per kind, and the size of the deleted documents in bytes. */
export const spaceReceipt = z.object({
  id: z.uuid(),
  /** The name of the space. */
  space: z.string(),
  deleted_at: z.string(),
  removed: z.record(z.string(), z.number()),
})
export type SpaceReceipt = z.infer<typeof spaceReceipt>

/** Days until a link ends. */
export const DEFAULT_LINK_DAYS = 30

/** Body of `POST /api/conversations/{id}/links`. `anybody`: also people without an account, where the operator allows it. */
export const newLink = z.object({
  days: z.int().min(1).max(365).default(DEFAULT_LINK_DAYS),
  anybody: z.boolean().default(false),
})

export const createdLink = z.object({ id: z.uuid(), url: z.string(), expires_at: z.string() })
export type CreatedLink = z.infer<typeof createdLink>

/** A link as those see it who may make one; its address is shown once, when it is made. */
export const listedLink = z.object({
  id: z.uuid(),
  created_by: z.uuid(),
  for_anybody: z.boolean(),
  created_at: z.string(),
  expires_at: z.string(),
})
export type ListedLink = z.infer<typeof listedLink>

/** The answer to a link: messages with the passages that they cite. `next`: position after which the rest follows. */
export const sharedConversation = z.object({
  title: z.string().nullable(),
  expires_at: z.string(),
  messages: z.array(
    messageRow
      .pick({ id: true, sender_role: true, content: true, created_at: true, position: true })
      .extend({ sources: z.array(source).nullable().catch(null) }),
  ),
  next: z.int().nullable(),
})
export type SharedConversation = z.infer<typeof sharedConversation>
