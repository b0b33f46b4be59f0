import { queryOptions } from '@tanstack/react-query'
import { z } from 'zod'
import { rest } from '#web/data/client.ts'
import { readRest } from '#web/data/read-rest.ts'

const absence = z.enum(['deleted', 'person', 'space']).nullable()
type Absence = z.infer<typeof absence>

const WORDS: Readonly<Record<NonNullable<Absence>, string>> = {
  deleted: 'This document was deleted.',
  person: 'This is one of another person’s own documents.',
  space: 'This is a document of a space that you are not in.',
}

/** The sentence that says why the person cannot open a document that an answer cites; null if it is not known. */
export function absenceQuery(document: string, message: string) {
  return queryOptions({
    queryKey: ['absence_of_document', document, message],
    queryFn: async () => {
      const reason = await readRest(absence, rest().rpc('absence_of_document', { document, message }))
      return reason === null ? null : WORDS[reason]
    },
    // Many cards may cite one document, and a membership may change.
    staleTime: 60_000,
    gcTime: 60_000,
  })
}
