import path from 'node:path'
import { AppError } from '#server/base/errors.ts'
import { openFolderTarget } from './folder-target.ts'
import type { BackupTarget } from './target.ts'

export interface StoreSettings {
  readonly endpoint: string | undefined
  readonly region: string
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
}

/** @param address a folder or s3://bucket/prefix @throws AppError `bad_request` */
export async function openTarget(address: string, settings: StoreSettings): Promise<BackupTarget> {
  if (!address.startsWith('s3://')) return openFolderTarget(path.resolve(address))
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? []
  const { endpoint, region, accessKey, secretKey } = settings
  if (bucket === undefined) throw new AppError('startup', `"${address}" names no bucket: it wants s3://bucket/prefix.`)
  if (endpoint === undefined || accessKey === undefined || secretKey === undefined)
    throw new AppError(
      'startup',
      `"${address}" needs the address and the keys of its store: set BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY, or S3_ENDPOINT with its keys.`,
    )
  const { openS3Target } = await import('./s3-target.ts')
  const folder = prefix.replace(/\/+$/, '')
  return openS3Target({ endpoint, bucket, region, accessKey, secretKey }, folder === '' ? '' : `${folder}/`)
}
