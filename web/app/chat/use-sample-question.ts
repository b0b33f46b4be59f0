import { useQueryClient } from '@tanstack/react-query'
import { useSpace } from '#web/data/current-space.ts'
import { cacheDocuments } from '#web/data/documents/document-cache.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import sampleAddress from './sample-document.txt?url'

const SAMPLE_NAME = 'A short history of the alcove.txt'
const SAMPLE_QUESTION = 'Where does the word alcove come from, and what was an alcove used for?'
const OWN_QUESTION = 'What are the main points of my newest document?'

/** A question to try. Without documents, it uploads the bundled sample document and asks about that. */
export function useSampleQuestion(): () => Promise<string> {
  const queryClient = useQueryClient()
  const space = useSpace()
  return async () => {
    const counts = queryClient.getQueryData(documentCountsQuery(space).queryKey)
    if (counts !== undefined && counts.total > 0) return OWN_QUESTION
    const { uploadFile } = await import('#web/data/documents/upload-file.ts')
    const bytes = await (await fetch(sampleAddress)).blob()
    const document = await uploadFile(new File([bytes], SAMPLE_NAME, { type: 'text/plain' }), space)
    cacheDocuments(queryClient, [document])
    return SAMPLE_QUESTION
  }
}
