import { z } from 'zod'
import { documentRow, MAX_IDS, type DocumentRow } from '#contract/document.ts'
import { apiFetch, readJson, rest, restWithApiFallback } from '#web/data/client.ts'
import { untilMomentKnown } from '#web/data/live/missed-changes.ts'
import { readTogether } from '#web/data/read-together.ts'

export const documentRows = z.array(documentRow)
export const DOCUMENT_COLUMNS = Object.keys(documentRow.shape).join(',')

/** Calls with at most `MAX_IDS` ids at a time, one after the other. */
export async function forIdsInTurn(
  ids: readonly string[],
  call: (some: readonly string[]) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < ids.length; first += MAX_IDS) await call(ids.slice(first, first + MAX_IDS))
}

/** Documents by id, without those that were deleted or belong to another person. */
export async function readDocuments(ids: readonly string[]): Promise<ReadonlyMap<string, DocumentRow>> {
  const found = new Map<string, DocumentRow>()
  await untilMomentKnown()
  await forIdsInTurn(ids, async (some) => {
    const rows = await restWithApiFallback(
      documentRows,
      () => rest().from('documents').select(DOCUMENT_COLUMNS).in('id', some),
      (signal) => readJson(apiFetch(`/api/documents?ids=${some.join()}`, { signal })),
    )
    for (const row of rows) found.set(row.id, row)
  })
  return found
}

/** One document; the documents that are asked for at the same time, as by the sources of an answer, are read together. */
export const readDocument = readTogether(readDocuments)
