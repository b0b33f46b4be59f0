import { z } from 'zod'
import { conversationRow } from './conversation.ts'
import { documentRow } from './document.ts'
import { messageRow } from './message.ts'

/**
 * Answer of `GET /api/changes`. With `?since=` the `moment` of an earlier answer: what changed for the person between the
 * two; with `&conversation=` an id also messages of that conversation. `is_complete` is false where too much changed, or
 * too long ago, to tell: then everything is to be read again.
 */
export const changesSince = z.object({
  moment: z.string(),
  is_complete: z.boolean(),
  conversations: z.array(conversationRow),
  documents: z.array(documentRow),
  /** Only where a conversation was named. */
  messages: z.array(messageRow).optional(),
  deleted_conversations: z.array(z.uuid()),
  deleted_documents: z.array(z.uuid()),
  /** Those of other people count too. */
  have_models_changed: z.boolean(),
})
export type ChangesSince = z.infer<typeof changesSince>
