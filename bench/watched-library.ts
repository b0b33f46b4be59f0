/** Uploads to a server and follows the documents by live changes of the rows, as the page does. */
import { type DocumentRow, documentRow, type UploadAnswer, uploadAnswer } from '#contract/document.ts'
import { type Client, live, type SignedIn } from './signed-in.ts'

export interface WatchedLibrary {
  upload(files: readonly { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }[]): Promise<UploadAnswer>
  /** The row once the document is ready or failed. */
  ended(id: string): Promise<DocumentRow>
}

/** @param onChange receives every change, progress included */
export async function watchLibrary(
  { alcove, token }: Pick<SignedIn, 'alcove' | 'token'>,
  client: Client,
  onChange: (row: DocumentRow) => void = () => undefined,
): Promise<WatchedLibrary> {
  const endings = new Map<string, PromiseWithResolvers<DocumentRow>>()
  const endingOf = (id: string): PromiseWithResolvers<DocumentRow> => {
    const ending = endings.get(id) ?? Promise.withResolvers<DocumentRow>()
    endings.set(id, ending)
    return ending
  }
  const channel = client.channel('library')
  channel.on('postgres_changes', { event: 'UPDATE', schema: 'public', table: 'documents' }, ({ new: changed }) => {
    const row = documentRow.parse(changed)
    onChange(row)
    if (row.state === 'ready' || row.state === 'failed') endingOf(row.id).resolve(row)
  })
  await live(channel, { hasChanges: true })
  return {
    async upload(files) {
      const form = new FormData()
      for (const { name, bytes } of files) form.append('files', new Blob([bytes]), name)
      const response = await fetch(`${alcove.url}/api/documents`, {
        method: 'POST',
        body: form,
        headers: { authorization: `Bearer ${token}` },
      })
      return uploadAnswer.parse(await response.json())
    },
    ended: (id) => endingOf(id).promise,
  }
}
