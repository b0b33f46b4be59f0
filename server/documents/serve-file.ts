import { serveBlob } from '#server/blobs/serve.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import { getDocumentFile } from './store/library.ts'

interface ServeFileParts {
  readonly database: Database
  readonly blobs: BlobStore
}

/** Always an attachment: the viewer fetches a file and draws it. @throws AppError `not_found`, `forbidden` */
export async function serveFile(
  { database, blobs }: ServeFileParts,
  claims: Claims,
  id: string,
  request: Request,
): Promise<Response> {
  const { filename, mimetype, path, sha256 } = await database.asUser(claims, (scope) => getDocumentFile(scope, id), {
    readOnly: true,
  })
  const file = {
    blobId: path,
    mediaType: mimetype === 'text/plain' ? 'text/plain; charset=utf-8' : mimetype,
    name: filename,
    downloadName: filename,
    headers: {
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-cache',
      etag: `"${sha256}"`,
    },
  }
  return serveBlob(blobs, file, request)
}
