import { createDiskStore } from './disk.ts'
import type { BlobStore } from './store.ts'

export interface BlobSettings {
  readonly DATA_DIR: string
  readonly S3_ENDPOINT?: string | undefined
  readonly S3_BUCKET?: string | undefined
  readonly S3_REGION: string
  readonly S3_ACCESS_KEY?: string | undefined
  readonly S3_SECRET_KEY?: string | undefined
}

/** The S3 client is loaded only if it is configured. */
export async function openBlobStore(settings: BlobSettings): Promise<BlobStore> {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = settings
  if (endpoint === undefined || bucket === undefined || accessKey === undefined || secretKey === undefined)
    return createDiskStore(settings.DATA_DIR)
  const { createS3Store } = await import('./s3.ts')
  return createS3Store({ endpoint, bucket, region: settings.S3_REGION, accessKey, secretKey })
}
