/** Uploads to a server and follows the documents by live changes of the rows, as the page does. */
import { type DocumentRow, documentRow, type UploadAnswer, uploadAnswer } from '#contract/document.ts'
import { type Client, live, type SignedIn } from './signed-in.ts'

export interface MadeFile {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface WatchedLibrary {
  upload(files: readonly MadeFile[]): Promise<UploadAnswer>
  /** Uploads in requests of so many files, one after the other. @throws if a file is rejected */
  uploadAll(files: readonly MadeFile[], perRequest: number): Promise<DocumentRow[]>
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
  async function upload(files: readonly MadeFile[]): Promise<UploadAnswer> {
    const form = new FormData()
    for (const { name, bytes } of files) form.append('files', new Blob([bytes]), name)
    const response = await fetch(`${alcove.url}/api/documents`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${token}` },
    })
    return uploadAnswer.parse(await response.json())
  }
  return {
    upload,
    async uploadAll(files, perRequest) {
      const uploaded: DocumentRow[] = []
      for (let from = 0; from < files.length; from += perRequest) {
        const { documents, rejected } = await upload(files.slice(from, from + perRequest))
        if (rejected.length > 0) throw new Error(`files were rejected: ${JSON.stringify(rejected)}`)
        uploaded.push(...documents)
      }
      return uploaded
    },
    ended: (id) => endingOf(id).promise,
  }
}
