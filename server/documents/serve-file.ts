import { fileTypeOf } from '#contract/file-types.ts'
import { contentDisposition, serveBlob } from '#server/blobs/serve.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import { getDocumentFile } from './store/library.ts'

/** An uploaded file opened by its address must run and load nothing. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; sandbox"

interface ServeFileParts {
  readonly database: Database
  readonly blobs: BlobStore
}

/** @throws AppError `not_found` */
export async function serveFile(
  { database, blobs }: ServeFileParts,
  claims: Claims,
  id: string,
  request: Request,
): Promise<Response> {
  const { filename, mimetype, path, sha256 } = await database.asUser(claims, (scope) => getDocumentFile(scope, id), {
    readOnly: true,
  })
  const headers = new Headers({
    'content-type': mimetype === 'text/plain' ? 'text/plain; charset=utf-8' : mimetype,
    'content-disposition': contentDisposition(
      fileTypeOf(mimetype)?.isInline === true ? 'inline' : 'attachment',
      filename,
    ),
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    etag: `"${sha256}"`,
  })
  return serveBlob(blobs, path, request, headers)
}
